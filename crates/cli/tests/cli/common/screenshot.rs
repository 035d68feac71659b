//! Pictures of a browser window, for tests that look at brightness and colours.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

pub(super) fn from_base64(base64: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(base64.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for letter in base64.bytes().filter(|&letter| letter != b'=') {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let six = letters.iter().position(|&known| known == letter).unwrap();
        bits = bits << 6 | u32::try_from(six).unwrap();
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 255).unwrap());
        }
    }
    bytes
}

/// A picture of the window.
pub(crate) struct Screenshot {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Red, green, blue.
    pixels: Vec<[u8; 3]>,
}

impl Screenshot {
    pub(super) fn of_base64(base64: &str) -> Self {
        Self::of_png(from_base64(base64))
    }

    /// A picture from a PNG file's bytes.
    pub(crate) fn of_png(bytes: Vec<u8>) -> Self {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let channels = info.color_type.samples();
        Self {
            width: info.width as usize,
            height: info.height as usize,
            pixels: pixels
                .chunks(channels)
                .map(|pixel| [pixel[0], pixel[1], pixel[2]])
                .collect(),
        }
    }

    /// The mean brightness of a part, from 0 to 255.
    pub(crate) fn brightness(&self, [left, top, width, height]: [usize; 4]) -> f64 {
        let part = self.part([left, top, width, height]);
        let sum: f64 = part
            .iter()
            .flatten()
            .map(|&channel| f64::from(channel))
            .sum();
        sum / (part.len() * 3) as f64
    }

    /// How many clearly different colours a part has.
    pub(crate) fn colours(&self, part: [usize; 4]) -> usize {
        let rough = |pixel: [u8; 3]| pixel.map(|channel| channel / 24);
        let found: std::collections::BTreeSet<[u8; 3]> =
            self.part(part).into_iter().map(rough).collect();
        found.len()
    }

    fn part(&self, [left, top, width, height]: [usize; 4]) -> Vec<[u8; 3]> {
        assert!(width > 0 && height > 0, "nothing to look at");
        let rows = top..(top + height).min(self.height);
        let row = |y: usize| {
            (left..(left + width).min(self.width)).map(move |x| self.pixels[y * self.width + x])
        };
        let part: Vec<[u8; 3]> = rows.flat_map(row).collect();
        assert!(!part.is_empty(), "off the screenshot");
        part
    }
}
