//! How many combinations a test runs. Every run of a private engine begins with slow key generation or base transfers.

/// Which options a test combines with a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cases {
    /// One option per metric, in turn, so that every option occurs with some metric.
    InTurn,
    /// All options; `.ci/full` runs this.
    All,
}

impl Cases {
    pub(crate) fn of<T>(self, turn: usize, options: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut options: Vec<T> = options.into_iter().collect();
        if self == Self::InTurn && !options.is_empty() {
            let chosen = options.swap_remove(turn % options.len());
            options = vec![chosen];
        }
        options
    }
}
