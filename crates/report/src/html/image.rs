//! A user-supplied picture, embedded unchanged in the page.

/// The largest file. A larger one would make the page slow to open, and mail servers would reject it.
pub const MAX_IMAGE_BYTES: usize = 8 << 20;

/// The largest side, in pixels.
const MAX_SIDE: u32 = 1 << 15;

/// A PNG or JPEG file. It is not decoded; only its kind and size are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    pub(crate) media_type: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// A file that is not a picture, or too large.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ImageError {
    /// Neither PNG nor JPEG.
    #[error("this is neither a PNG nor a JPEG picture")]
    Unknown,
    /// The file ends before its dimensions, or has none.
    #[error("the picture is damaged: its size cannot be read")]
    Damaged,
    /// Too large.
    #[error(
        "the picture is too large for a page: at most {MAX_IMAGE_BYTES} bytes and 32768 pixels a side"
    )]
    TooLarge,
}

impl Image {
    /// Checks a file's content.
    pub fn new(bytes: Vec<u8>) -> Result<Self, ImageError> {
        if bytes.len() > MAX_IMAGE_BYTES {
            return Err(ImageError::TooLarge);
        }
        let (media_type, size) = if bytes.starts_with(b"\x89PNG\r\n\x1a\n") {
            ("image/png", png_size(&bytes))
        } else if bytes.starts_with(b"\xff\xd8\xff") {
            ("image/jpeg", jpeg_size(&bytes))
        } else {
            return Err(ImageError::Unknown);
        };
        let (width, height) = size.ok_or(ImageError::Damaged)?;
        if width == 0 || height == 0 {
            return Err(ImageError::Damaged);
        }
        if width.max(height) > MAX_SIDE {
            return Err(ImageError::TooLarge);
        }
        Ok(Self {
            media_type,
            bytes,
            width,
            height,
        })
    }
}

/// A PNG file starts with its header chunk, which begins with width and height.
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let number = |at: usize| Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    (bytes.get(12..16)? == b"IHDR").then_some(())?;
    Some((number(16)?, number(20)?))
}

/// A JPEG file is a chain of segments with lengths. A segment of kind C0 to CF, except for three of these, contains the
/// size.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let pair = |at: usize| Some(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?));
    let mut at = 2;
    loop {
        // Any number of FF bytes may precede a kind.
        while bytes.get(at)? == &0xff && bytes.get(at + 1)? == &0xff {
            at += 1;
        }
        if bytes.get(at)? != &0xff {
            return None;
        }
        let kind = *bytes.get(at + 1)?;
        match kind {
            0xc4 | 0xc8 | 0xcc => {}
            0xc0..=0xcf => return Some((pair(at + 7)?.into(), pair(at + 5)?.into())),
            // The image data begins before any size.
            0xd9 | 0xda => return None,
            _ => {}
        }
        let length = usize::from(pair(at + 2)?);
        at += 2 + length.max(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 3, 2);
        encoder.set_color(png::ColorType::Grayscale);
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(&[0; 6]).unwrap();
        writer.finish().unwrap();
        bytes
    }

    /// A start marker, a comment of four bytes, then the frame header of a picture 640 wide and 480 high.
    fn jpeg() -> Vec<u8> {
        let mut bytes = vec![0xff, 0xd8, 0xff, 0xfe, 0, 6, 1, 2, 3, 4, 0xff, 0xff];
        bytes.extend([0xc2, 0, 11, 8, 0x01, 0xe0, 0x02, 0x80, 1, 1, 0x11, 0]);
        bytes
    }

    #[test]
    fn sizes_are_read() {
        let size =
            |bytes| Image::new(bytes).map(|image| (image.media_type, image.width, image.height));
        assert_eq!(size(png()), Ok(("image/png", 3, 2)));
        assert_eq!(size(jpeg()), Ok(("image/jpeg", 640, 480)));
    }

    #[test]
    fn truncated_and_other_files_are_refused() {
        assert_eq!(
            Image::new(b"<svg onload='x'/>".to_vec()),
            Err(ImageError::Unknown)
        );
        assert_eq!(
            Image::new(vec![0; MAX_IMAGE_BYTES + 1]),
            Err(ImageError::TooLarge)
        );
        for whole in [png()[..23].to_vec(), jpeg()[..20].to_vec()] {
            for end in 0..whole.len() {
                let refused = Image::new(whole[..end].to_vec());
                assert!(
                    matches!(refused, Err(ImageError::Unknown | ImageError::Damaged)),
                    "{end}"
                );
            }
        }
    }
}
