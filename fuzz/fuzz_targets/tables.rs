//! Substitution tables of users; the first byte chooses the alphabet.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_metrics::{Alphabet, Table, TableOf};

fuzz_target!(|data: &[u8]| {
    let [letters, text @ ..] = data else { return };
    let Ok(alphabet) = Alphabet::letters(u32::from(*letters % 52) + 1) else {
        return;
    };
    let Ok(text) = std::str::from_utf8(text) else {
        return;
    };
    if let Ok(table) = Table::parse(text, TableOf::Scores, &alphabet) {
        let size = u64::from(table.size());
        assert_eq!(table.values().len() as u64, size * size);
        assert!(table.values().iter().all(|value| value.is_finite()));
        table.fingerprint();
    }
});
