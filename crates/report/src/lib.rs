//! Renders the outcome of a comparison.
