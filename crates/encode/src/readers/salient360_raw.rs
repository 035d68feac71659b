//! Raw head and eye tracking of the Salient360! experiments (Unity and SMI), recognised only to be rejected with
//! advice.
//!
//! Where somebody looked on the sphere is the head's rotation applied to the eye's direction. The file does not say
//! which eye to take, how the panorama was turned in front of the viewer, or whether longitude grows to the right of
//! the picture, so any answer would be a guess. The authors' toolbox knows their experiment and exports fixation lists,
//! which the `salient360` reader accepts.

use super::Format;
use crate::{Head, Input, ReadError, ReadOptions, Sink};

pub(super) struct Salient360Raw;

impl Format for Salient360Raw {
    fn name(&self) -> &'static str {
        "salient360-raw"
    }

    fn title(&self) -> &'static str {
        "Salient360! raw Unity/SMI recording (recognised, not read)"
    }

    fn recognises(&self, head: &Head) -> bool {
        let header = head.first_row().to_ascii_lowercase();
        let has_column = |name: &str| header.split(',').any(|column| column.trim() == name);
        // The headers of the recordings for pictures and for videos.
        has_column("ocutimestamp") && has_column("unitytimestamp")
            || has_column("oculots") && has_column("unityts")
    }

    fn read(
        &self,
        input: Input,
        _options: &ReadOptions,
        _sink: &mut dyn Sink,
    ) -> Result<(), ReadError> {
        Err(ReadError::new(
            input.name(),
            "this is a raw recording of head and eye rotations, which does not say where on the panorama they point",
        )
        .with_remedy(
            "export a fixation list with the Salient360! toolbox (its helper.loadRawData, then scanpath.toFile, or \
             `python -m Salient360Toolbox.generate --scanp-file`) and encode that list",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::recorder::{read_file, recognised, shared_file, tiny_file};

    #[test]
    fn both_kinds_of_raw_recordings_are_recognised_and_refused() {
        for header in [
            "OcutimeStamp,UnityTimeStamp,leftPor.x,leftPor.y",
            "\u{feff}oculoTS, unityTS, currFrame,LeftPosX\r",
        ] {
            let input = Input::from_bytes("t.csv", format!("{header}\n1,2,3,4\n").into()).unwrap();
            assert_eq!(recognised(&input), "salient360-raw", "{header}");
        }
        let path = tiny_file("salient360-raw.csv");
        let error = read_file(&Salient360Raw, &path, &ReadOptions::default()).unwrap_err();
        assert!(error.remedy.contains("toolbox"), "{error}");
        assert_eq!(recognised(&Input::open(&path).unwrap()), "salient360-raw");
    }

    #[test]
    fn the_real_file_is_refused_with_advice() {
        let Some(path) = shared_file("salient360_toolbox_raw/rawDataStatic2.csv") else {
            return;
        };
        assert_eq!(recognised(&Input::open(&path).unwrap()), "salient360-raw");
        assert!(read_file(&Salient360Raw, &path, &ReadOptions::default()).is_err());
    }
}
