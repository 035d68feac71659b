//! How many combinations a test runs. Every run of an engine that hides something begins with keys or transfers.

/// Which options a test combines with a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cases {
    /// One of them, in turn: every option with some metric.
    InTurn,
    /// All of them; `.ci/full` runs this.
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
