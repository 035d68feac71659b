//! The library as front ends use it. One program, because each takes seconds to link.

mod cancel;
mod compare;
mod fixations;
mod groups;
mod report;
mod session;
mod stats;
