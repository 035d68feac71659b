//! The fuzz targets. The library's own tests include these files to replay the corpus.

pub mod checks;
pub mod metrics;
pub mod scripts;
pub mod targets;
