//! Classical multidimensional scaling: points on a map whose distances approximate the dissimilarities as well as two
//! dimensions allow. Torgerson's method takes the two leading eigenvectors of the doubly centred squares.

use super::eigen::leading;
use super::matrix::DissimilarityMatrix;

/// The most points. More would be unreadable and slow.
pub(crate) const MAX_POINTS: usize = 1500;

/// A map of the members of one cohort.
#[derive(Clone, Debug)]
pub(crate) struct Map {
    pub(crate) points: Vec<[f64; 2]>,
    /// The correlation between the distances on the map and the dissimilarities; `None` if all of them are equal.
    pub(crate) fit: Option<f64>,
}

/// The map; `None` if there are fewer than three points, too many, or all coincide.
pub(crate) fn map(far: &DissimilarityMatrix) -> Option<Map> {
    let size = far.size;
    if !(3..=MAX_POINTS).contains(&size) {
        return None;
    }
    let mut squares: Vec<Vec<f64>> = (0..size)
        .map(|i| (0..size).map(|j| far.get(i, j) * far.get(i, j)).collect())
        .collect();
    let means: Vec<f64> = squares
        .iter()
        .map(|row| row.iter().sum::<f64>() / size as f64)
        .collect();
    let mean = means.iter().sum::<f64>() / size as f64;
    for (row, row_mean) in squares.iter_mut().zip(&means) {
        for (entry, column_mean) in row.iter_mut().zip(&means) {
            *entry = -0.5 * (*entry - row_mean - column_mean + mean);
        }
    }
    let axes = leading(&squares, 2);
    let [first, second] = axes.as_slice() else {
        return None;
    };
    if first.value <= 0.0 || !first.value.is_finite() {
        return None;
    }
    let coordinate = |axis: &super::eigen::Eigen, at: usize| {
        // The sign of an eigenvector is arbitrary. Fixing it gives the same map every time.
        let largest = axis
            .vector
            .iter()
            .copied()
            .fold(0.0_f64, |x, y| if y.abs() > x.abs() + 1e-9 { y } else { x });
        axis.vector[at] * axis.value.max(0.0).sqrt() * largest.signum()
    };
    let points: Vec<[f64; 2]> = (0..size)
        .map(|at| [coordinate(first, at), coordinate(second, at)])
        .collect();
    Some(Map {
        fit: fit(far, &points),
        points,
    })
}

fn fit(far: &DissimilarityMatrix, points: &[[f64; 2]]) -> Option<f64> {
    let pairs = || {
        (0..far.size).flat_map(move |i| {
            (0..i).map(move |j| {
                let ([x, y], [u, v]) = (points[i], points[j]);
                (far.get(i, j), (x - u).hypot(y - v))
            })
        })
    };
    let count = pairs().count() as f64;
    let means = pairs().fold((0.0, 0.0), |(x, y), (u, v)| (x + u / count, y + v / count));
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in pairs() {
        let (x, y) = (x - means.0, y - means.1);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    let fit = xy / (xx * yy).sqrt();
    (xx > 1e-18 && fit.is_finite()).then_some(fit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance(map: &Map, i: usize, j: usize) -> f64 {
        let ([x, y], [u, v]) = (map.points[i], map.points[j]);
        (x - u).hypot(y - v)
    }

    #[test]
    fn a_triangle_is_recovered() {
        let sides = [[0.0, 3.0, 4.0], [3.0, 0.0, 5.0], [4.0, 5.0, 0.0]];
        let map = map(&DissimilarityMatrix::new(3, |i, j| sides[i][j])).unwrap();
        for (i, row) in sides.iter().enumerate() {
            for (j, side) in row.iter().enumerate() {
                assert!((distance(&map, i, j) - side).abs() < 1e-12);
            }
        }
        assert!((map.fit.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_large_plane_is_recovered() {
        let point = |at: usize| ((at * 37 % 101) as f64, (at * 53 % 89) as f64 * 0.4);
        let far = DissimilarityMatrix::new(200, |i, j| {
            let ((x, y), (u, v)) = (point(i), point(j));
            (x - u).hypot(y - v)
        });
        let map = map(&far).unwrap();
        for i in 0..200 {
            for j in 0..i {
                assert!((distance(&map, i, j) - far.get(i, j)).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn non_planar_distances_still_give_a_map() {
        // Four points at unit distance from each other: a tetrahedron.
        let flat = map(&DissimilarityMatrix::new(4, |_, _| 1.0)).unwrap();
        assert!(flat.points.iter().flatten().all(|x| x.is_finite()));
        assert!(flat.fit.is_none(), "all dissimilarities are equal");
        assert!(map(&DissimilarityMatrix::new(5, |_, _| 0.0)).is_none());
        assert!(map(&DissimilarityMatrix::new(2, |_, _| 1.0)).is_none());
    }
}
