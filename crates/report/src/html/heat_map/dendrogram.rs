//! A heat map's two dendrograms: left of the rows and above the columns.

use super::super::clustering::Tree;
use super::layout::{Layout, TREE};
use super::n;
use std::fmt::Write as _;

/// Both dendrograms in one path.
pub(super) fn path([rows, columns]: [&Tree; 2], layout: &Layout) -> String {
    let mut path = String::new();
    let [wide, high] = layout.tile;
    branches(rows, |[from, to], [near, far, height]| {
        let x = |height: f64| n(layout.left - 6.0 - height * (TREE - 10.0));
        let y = |at: f64| n(layout.top + (at + 0.5) * high);
        let _ = write!(
            path,
            "M{} {}H{}V{}H{}",
            x(near),
            y(from),
            x(height),
            y(to),
            x(far)
        );
    });
    branches(columns, |[from, to], [near, far, height]| {
        let x = |at: f64| n(layout.left + (at + 0.5) * wide);
        let y = |height: f64| n(layout.top - 6.0 - height * (TREE - 10.0));
        let _ = write!(
            path,
            "M{} {}V{}H{}V{}",
            x(from),
            y(near),
            y(height),
            x(to),
            y(far)
        );
    });
    path
}

/// Calls `draw` for each merge with the positions of its two branches, and with the heights of the first, the second
/// and the merge itself, from 0 to 1.
fn branches(tree: &Tree, mut draw: impl FnMut([f64; 2], [f64; 3])) {
    let top = tree
        .merges
        .iter()
        .fold(0.0_f64, |top, merge| top.max(merge.height));
    let mut positions = vec![(0.0, 0.0); tree.order.len()];
    for (at, &leaf) in tree.order.iter().enumerate() {
        positions[leaf] = (at as f64, 0.0);
    }
    for merge in &tree.merges {
        let [(from, near), (to, far)] = merge.children.map(|child| positions[child]);
        // If all rows are equal, the tree has no height and is drawn flat.
        let height = if top > 0.0 { merge.height / top } else { 0.0 };
        draw([from, to], [near, far, height]);
        positions.push(((from + to) / 2.0, height));
    }
}
