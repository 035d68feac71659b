//! What users give beside recordings: areas of interest, a picture for the report, thresholds, grids and alphabets. The first
//! byte chooses.

#![no_main]

use libfuzzer_sys::fuzz_target;
use veilpath_encode::{Areas, Input};
use veilpath_metrics::{Alphabet, Grid};
use veilpath_protocol::Reveal;
use veilpath_report::html::Image;

fuzz_target!(|data: &[u8]| {
    let [kind, content @ ..] = data else { return };
    match kind % 5 {
        0 => {
            if let Ok(input) = Input::from_bytes("aoi.csv", content.to_vec()) {
                let _ = Areas::read(input);
            }
        }
        1 => {
            let _ = Image::new(content.to_vec());
        }
        kind => {
            let Ok(text) = std::str::from_utf8(content) else {
                return;
            };
            // What is read must be written so that it is read as the same again.
            match kind {
                2 => {
                    if let Ok(reveal) = text.parse::<Reveal>() {
                        assert_eq!(reveal.to_string().parse(), Ok(reveal));
                    }
                }
                3 => {
                    if let Ok(grid) = text.parse::<Grid>() {
                        assert_eq!(grid.to_string().parse(), Ok(grid));
                    }
                }
                _ => {
                    if let Ok(alphabet) = text.parse::<Alphabet>() {
                        assert_eq!(alphabet.to_string().parse(), Ok(alphabet));
                    }
                }
            }
        }
    }
});
