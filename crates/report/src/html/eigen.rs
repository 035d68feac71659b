//! The largest eigenvalues of a symmetric matrix.
//!
//! Small matrices are diagonalised by Jacobi rotations. For large ones, a few vectors are repeatedly multiplied by the
//! matrix and orthogonalised (subspace iteration). Their span converges to that of the leading eigenvectors, which the
//! same rotations then find within it.

/// An eigenvalue and its eigenvector.
#[derive(Clone, Debug)]
pub(crate) struct Eigen {
    pub(crate) value: f64,
    pub(crate) vector: Vec<f64>,
}

/// Matrices up to this size are diagonalised directly.
const SMALL: usize = 60;

/// The number of vectors in the iteration: more than requested, so that close eigenvalues are separated.
const SPAN: usize = 12;

const MAX_ITERATIONS: usize = 300;

/// The `count` largest eigenvalues of a symmetric matrix, largest first.
pub(crate) fn leading(matrix: &[Vec<f64>], count: usize) -> Vec<Eigen> {
    let mut found = if matrix.len() <= SMALL {
        jacobi(matrix.to_vec())
    } else {
        by_iteration(matrix, count)
    };
    found.truncate(count);
    found
}

fn by_iteration(matrix: &[Vec<f64>], count: usize) -> Vec<Eigen> {
    let size = matrix.len();
    // Shift all eigenvalues up by less than the largest absolute value. Positive ones then grow faster than negative
    // ones of the same magnitude, which would otherwise fill the span.
    let shift = matrix
        .iter()
        .map(|row| row.iter().map(|x| x.abs()).sum::<f64>() / (size as f64).sqrt())
        .fold(0.0, f64::max);
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let mut span: Vec<Vec<f64>> = (0..SPAN)
        .map(|_| (0..size).map(|_| random()).collect())
        .collect();
    orthonormalise(&mut span);
    let mut found: Vec<Eigen> = Vec::new();
    for iteration in 0..MAX_ITERATIONS {
        let images: Vec<Vec<f64>> = span.iter().map(|vector| times(matrix, vector)).collect();
        if iteration % 10 == 9 {
            let before: Vec<f64> = found.iter().take(count).map(|eigen| eigen.value).collect();
            found = within(&span, &images);
            let close =
                |(old, new): (&f64, &Eigen)| (old - new.value).abs() <= 1e-10 * new.value.abs();
            if !before.is_empty() && before.iter().zip(&found).all(close) {
                break;
            }
        }
        for (vector, image) in span.iter_mut().zip(images) {
            for (x, y) in vector.iter_mut().zip(image) {
                *x = y + shift * *x;
            }
        }
        orthonormalise(&mut span);
    }
    found
}

/// The eigenvectors of a matrix restricted to the span of orthonormal vectors.
fn within(span: &[Vec<f64>], images: &[Vec<f64>]) -> Vec<Eigen> {
    let small = span
        .iter()
        .map(|vector| images.iter().map(|image| dot(vector, image)).collect())
        .collect();
    let mut found = jacobi(small);
    for eigen in &mut found {
        let mut vector = vec![0.0; span.first().map_or(0, Vec::len)];
        for (part, along) in eigen.vector.iter().zip(span) {
            for (x, y) in vector.iter_mut().zip(along) {
                *x += part * y;
            }
        }
        eigen.vector = vector;
    }
    found
}

/// All eigenvalues, largest first.
fn jacobi(mut matrix: Vec<Vec<f64>>) -> Vec<Eigen> {
    let size = matrix.len();
    let mut vectors: Vec<Vec<f64>> = (0..size)
        .map(|i| (0..size).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let all: f64 = matrix.iter().flatten().map(|x| x * x).sum();
    for _sweep in 0..50 {
        let mut off = 0.0;
        for p in 0..size {
            for q in 0..p {
                off += matrix[p][q] * matrix[p][q];
                rotate(&mut matrix, &mut vectors, p, q);
            }
        }
        if off <= 1e-26 * all {
            break;
        }
    }
    let mut found: Vec<Eigen> = vectors
        .into_iter()
        .enumerate()
        .map(|(at, vector)| Eigen {
            value: matrix[at][at],
            vector,
        })
        .collect();
    found.sort_by(|x, y| y.value.total_cmp(&x.value));
    found
}

/// Zeroes one entry by a rotation. The rows of `vectors` are the eigenvectors.
fn rotate(matrix: &mut [Vec<f64>], vectors: &mut [Vec<f64>], p: usize, q: usize) {
    let entry = matrix[p][q];
    if entry == 0.0 {
        return;
    }
    let theta = (matrix[q][q] - matrix[p][p]) / (2.0 * entry);
    let tangent = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let cosine = 1.0 / tangent.hypot(1.0);
    let sine = tangent * cosine;
    for row in matrix.iter_mut() {
        (row[p], row[q]) = (
            cosine * row[p] - sine * row[q],
            sine * row[p] + cosine * row[q],
        );
    }
    for rows in [matrix, vectors] {
        if let Ok([first, second]) = rows.get_disjoint_mut([p, q]) {
            for (x, y) in first.iter_mut().zip(second) {
                (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
            }
        }
    }
}

/// Orthonormalises vectors. A vector in the span of those before it becomes 0.
fn orthonormalise(vectors: &mut [Vec<f64>]) {
    for at in 0..vectors.len() {
        let (done, rest) = vectors.split_at_mut(at);
        let Some(vector) = rest.first_mut() else {
            return;
        };
        let length = dot(vector, vector).sqrt();
        // Twice, because one pass leaves rounding errors.
        for other in done.iter().chain(done.iter()) {
            let along = dot(vector, other);
            for (x, y) in vector.iter_mut().zip(other) {
                *x -= along * y;
            }
        }
        let left = dot(vector, vector).sqrt();
        let scale = if left > 1e-12 * length {
            1.0 / left
        } else {
            0.0
        };
        for x in vector.iter_mut() {
            *x *= scale;
        }
    }
}

fn times(matrix: &[Vec<f64>], vector: &[f64]) -> Vec<f64> {
    matrix.iter().map(|row| dot(row, vector)).collect()
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn residual(matrix: &[Vec<f64>], eigen: &Eigen) -> f64 {
        let image = times(matrix, &eigen.vector);
        let wrong = image
            .iter()
            .zip(&eigen.vector)
            .map(|(y, x)| (y - eigen.value * x).abs());
        wrong.fold(0.0, f64::max)
    }

    #[test]
    fn a_small_matrix_has_the_known_eigenvalues() {
        // (x−3)(x−1) in the first two coordinates, −5 in the last.
        let matrix = vec![
            vec![2.0, 1.0, 0.0],
            vec![1.0, 2.0, 0.0],
            vec![0.0, 0.0, -5.0],
        ];
        let found = leading(&matrix, 3);
        let values: Vec<f64> = found.iter().map(|eigen| eigen.value).collect();
        for (found, expected) in values.iter().zip([3.0, 1.0, -5.0]) {
            assert!((found - expected).abs() < 1e-12, "{values:?}");
        }
        assert!(found.iter().all(|eigen| residual(&matrix, eigen) < 1e-12));
    }

    /// Eigenvalues known by construction: close ones, and negative ones of large magnitude, on random axes.
    #[test]
    fn large_matrices_give_the_leading_eigenvalues() {
        let size = 150;
        let mut seed = 3_u64;
        let mut axes: Vec<Vec<f64>> = (0..size)
            .map(|_| {
                (0..size)
                    .map(|_| {
                        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (seed >> 33) as f64 / 2.0_f64.powi(31) - 0.5
                    })
                    .collect()
            })
            .collect();
        orthonormalise(&mut axes);
        let value = |at: usize| match at {
            0 => 10.0,
            1 => 9.9,
            2 => -30.0,
            at => 5.0 - at as f64 / 20.0,
        };
        let matrix: Vec<Vec<f64>> = (0..size)
            .map(|i| {
                (0..size)
                    .map(|j| (0..size).map(|k| value(k) * axes[k][i] * axes[k][j]).sum())
                    .collect()
            })
            .collect();
        let found = leading(&matrix, 2);
        assert!((found[0].value - 10.0).abs() < 1e-6, "{}", found[0].value);
        assert!((found[1].value - 9.9).abs() < 1e-6, "{}", found[1].value);
        assert!(residual(&matrix, &found[0]) < 1e-2);
    }
}
