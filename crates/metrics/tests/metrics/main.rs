//! All integration tests of the metrics in one binary, so that everything is linked once.

mod batch;
mod fixation_vectors;
mod fixed_point;
mod held_out;
mod kernels;
mod known_values;
mod non_alignment;
mod non_alignment_by_hand;
mod non_alignment_vectors;
mod other_programs;
mod properties;
mod shared_vectors;
mod support;
mod symmetry;
mod thresholds;
