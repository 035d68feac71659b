//! What the fuzz targets do. The files are read by the library's own tests as well, which replay the corpus.

pub mod checks;
pub mod scripts;
pub mod targets;
