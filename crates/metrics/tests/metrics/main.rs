//! The tests of the metrics, in one program: each of their files would link everything again.

mod batch;
mod fixed_point;
mod kernels;
mod known_values;
mod properties;
mod shared_vectors;
mod support;
mod thresholds;
