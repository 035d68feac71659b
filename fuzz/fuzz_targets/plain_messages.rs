//! What the two roles of the engine `plain` receive; the first byte chooses the role and whether scores or bits come, the
//! second the number of scanpaths.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric, Scanpath};
use veilpath_protocol::{Channel, Engine, Job, PairRule, Role, Spec, memory_pair};

fuzz_target!(|data: &[u8]| {
    let [role, count, message @ ..] = data else { return };
    let Ok(alphabet) = Alphabet::letters(4) else { return };
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries: Vec::new(),
    };
    let spec = Spec::new(Engine::Plain, Metric::Levenshtein, PairRule::All, &cohort, &cohort);
    let Ok(mut spec) = spec else { return };
    if let (true, Ok(reveal)) = (role & 2 != 0, "threshold:2".parse()) {
        spec.reveal = reveal;
    }
    let count = usize::from(count % 8);
    let own = Scanpath::new(vec![1, 2, 3]);
    let own = [&own];
    let role = if role % 2 == 0 { Role::Host } else { Role::Join };
    let pairs: Vec<(usize, usize)> = (0..count)
        .map(|other| match role {
            Role::Host => (0, other),
            Role::Join => (other, 0),
        })
        .collect();
    let Ok(job) = Job::new(&spec, role, &own, count, &pairs) else { return };
    let (mut here, mut there) = memory_pair();
    if there.send(message).and_then(|()| there.flush()).is_ok() {
        drop(there);
        let _ = Engine::Plain.run(&job, &mut here, &());
    }
});
