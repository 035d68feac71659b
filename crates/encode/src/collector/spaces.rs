//! Whether points can be placed on a grid.

use crate::grid_cell::{has_area, is_measured};
use crate::{EncodeField, ReadError, Space};

/// Rejects a recording whose stimulus has no known size; `error` creates an error about the file.
pub(super) fn check(
    space: Option<&Space>,
    error: impl FnOnce(&str) -> ReadError,
) -> Result<(), ReadError> {
    match space {
        None => Err(error("the size of the screen or stimulus is unknown, so points cannot be placed on a grid")
            .with_remedy("give its width and height in pixels")
            .with_fields(&[EncodeField::Screen])),
        Some(space) if !is_measured(space) => Err(error("the coordinates are degrees of visual angle, but the size of the screen or its distance is not known")
            .with_remedy("give the width and height of the screen in centimetres, and the viewing distance; if these are longitudes and latitudes of a panorama, give that unit")
            .with_fields(&[EncodeField::ScreenCm, EncodeField::Distance, EncodeField::Units])),
        Some(space) if !has_area(space) => Err(error("the screen or stimulus has no width or no height")
            .with_remedy("give them in pixels")
            .with_fields(&[EncodeField::Screen])),
        Some(_) => Ok(()),
    }
}
