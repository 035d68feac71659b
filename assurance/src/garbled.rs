//! Garbling, evaluating and transferring, from the base transfers to the output, for each kernel that valgrind
//! supports.

use crate::declassify::Declassifying;
use crate::secret_rng::SecretRng;
use crate::valgrind::{mark_public, mark_secret};
use std::thread;
use veilpath_channel::memory_pair;
use veilpath_mpc::Kernel;
use veilpath_mpc::alignment::{
    EvaluatorComparison, EvaluatorSession, Fold, GarblerComparison, GarblerSession,
};
use veilpath_mpc::circuit::cells::SavingCell;

const ALPHABET: usize = 7;
const ROWS: usize = 6;
const COLUMNS: usize = 5;

/// A whole session of one comparison. The garbler's table, the evaluator's letters, and all randomness are secret.
pub fn session(kernel: Kernel) {
    let (left, right) = memory_pair();
    let cell = SavingCell::new(30);
    thread::scope(|scope| {
        let cell = &cell;
        scope.spawn(move || {
            let mut channel = Declassifying(left);
            let mut rng = SecretRng::new(1);
            let mut session =
                GarblerSession::start(kernel, &mut rng, &mut channel).expect("a start");
            let letters = session
                .letters(ALPHABET, COLUMNS, &mut channel)
                .expect("letters");
            let table: Vec<Vec<u64>> = (0..ROWS)
                .map(|row| {
                    (0..ALPHABET)
                        .map(|letter| cell.input((3 * row).abs_diff(2 * letter) as u64))
                        .collect()
                })
                .collect();
            for row in &table {
                mark_secret(row);
            }
            let comparison = GarblerComparison {
                rows: table.iter().map(Vec::as_slice).collect::<Vec<_>>(),
                columns: 0..COLUMNS,
            };
            let numbers = session
                .align(
                    cell,
                    Fold::Unwrap,
                    &letters,
                    &[comparison],
                    &mut channel,
                    &|_| (),
                )
                .expect("an alignment");
            session
                .reveal_to_peer(&numbers, &mut channel)
                .expect("a result");
        });
        let mut channel = Declassifying(right);
        let mut rng = SecretRng::new(2);
        let mut session = EvaluatorSession::start(kernel, &mut rng, &mut channel).expect("a start");
        let own: Vec<usize> = (0..COLUMNS).map(|i| i * 5 % ALPHABET).collect();
        mark_secret(&own);
        let letters = session
            .letters(ALPHABET, &own, &mut channel)
            .expect("letters");
        let comparison = EvaluatorComparison {
            rows: ROWS,
            columns: 0..COLUMNS,
        };
        let numbers = session
            .align(
                cell,
                Fold::Unwrap,
                &letters,
                &[comparison],
                &mut channel,
                &|_| (),
            )
            .expect("an alignment");
        let learned = session.decode(&numbers, &mut channel).expect("a result");
        mark_public(&learned);
        assert_eq!(learned.len(), 1);
    });
}
