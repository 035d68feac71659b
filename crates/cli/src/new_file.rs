//! Files that are written.

pub(crate) use veilpath::{OutputFile as NewFile, is_same_file as same_place};
