//! Replays the corpus of the fuzz targets without a fuzzer.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test
#![allow(unreachable_pub, clippy::panic)] // the fuzz targets use these files as a library

use crate::common;
use crate::targets;

#[test]
fn every_input_of_the_corpus_passes_its_target() {
    let corpus = common::root().join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        let files: Vec<_> = std::fs::read_dir(corpus.join(name)).unwrap().collect();
        assert!(files.len() > 5, "{name} has too few inputs");
        let mut bytes = 0;
        for file in files {
            let input = std::fs::read(file.unwrap().path()).unwrap();
            bytes += input.len();
            target(&input);
        }
        assert!(bytes <= 50_000, "{name} has a corpus of {bytes} bytes");
    }
    let folders = std::fs::read_dir(corpus).unwrap().count();
    assert_eq!(folders, targets::TARGETS.len());
}
