//! What a scanpath comparison is, and its computation in the clear.
