//! The library as front ends use it. All tests are in one binary, because each binary takes seconds to link.

mod cancel;
mod compare;
mod fixations;
mod groups;
mod order;
mod report;
mod session;
mod stats;
