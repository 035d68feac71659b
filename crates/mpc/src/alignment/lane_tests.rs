//! Several lanes of one session.

use super::tests::{levenshtein, strings, unit_table};
use super::*;
use crate::circuit::cells::UnitCell;
use crate::kernel::Kernel;
use crate::lane::Lane;
use crate::transport::memory_pair;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;

#[test]
fn lanes_beside_each_other() {
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let ours = strings(&mut rng, &[50, 31, 9, 70], 7);
    let theirs = strings(&mut rng, &[40], 7);
    let table = unit_table(7);
    let columns = 0..theirs[0].len();
    let lanes = [1, 2, 3].map(|number| Lane::new(number).unwrap());
    let (mut left, mut right) = memory_pair();
    let mut lines: Vec<_> = (0..4).map(|_| memory_pair()).collect();
    std::thread::scope(|scope| {
        let (mut left_lines, mut right_lines): (Vec<_>, Vec<_>) = lines.drain(..).unzip();
        let (ours, table, columns, theirs) = (&ours, &table, &columns, &theirs);
        scope.spawn(move || {
            let mut rng = ChaCha20Rng::seed_from_u64(80);
            let mut first = GarblerSession::start(Kernel::best(), &mut rng, &mut left).unwrap();
            let letters = first.letters(7, columns.len(), &mut left).unwrap();
            let mut sessions = vec![];
            for lane in lanes {
                sessions.push(first.lane(lane).unwrap());
                assert!(first.lane(lane).is_err());
            }
            sessions.push(first);
            let letters = &letters;
            std::thread::scope(|scope| {
                let work = sessions.into_iter().zip(&mut left_lines).zip(ours);
                for ((mut session, line), ours) in work {
                    scope.spawn(move || {
                        let comparison = GarblerComparison {
                            rows: ours.iter().map(|x| &table[*x][..]).collect::<Vec<_>>(),
                            columns: columns.clone(),
                        };
                        let sums =
                            session.align(&UnitCell, Fold::Sum, letters, &[comparison], line);
                        session.show(&sums.unwrap(), line).unwrap();
                    });
                }
            });
        });
        let mut rng = ChaCha20Rng::seed_from_u64(81);
        let mut first = EvaluatorSession::start(Kernel::best(), &mut rng, &mut right).unwrap();
        let letters = first.letters(7, &theirs[0], &mut right).unwrap();
        let mut sessions: Vec<_> = lanes.map(|lane| first.lane(lane).unwrap()).into();
        sessions.push(first);
        for ((mut session, line), ours) in sessions.into_iter().zip(&mut right_lines).zip(ours) {
            let comparison = EvaluatorComparison {
                rows: ours.len(),
                columns: columns.clone(),
            };
            let sums = session.align(&UnitCell, Fold::Sum, &letters, &[comparison], line);
            let sum = session.learn(&sums.unwrap(), line).unwrap()[0];
            let expected = theirs[0].len() as u64 + levenshtein(ours, &theirs[0]);
            assert_eq!(ours.len() as u64 + sum, expected);
        }
    });
}
