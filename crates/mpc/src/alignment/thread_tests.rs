//! Several worker threads of one session.

use super::tests::{levenshtein, strings, unit_table};
use super::*;
use crate::circuit::cells::UnitCell;
use crate::kernel::Kernel;
use crate::worker_thread::WorkerThread;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_channel::memory_pair;

#[test]
fn parallel_threads_give_the_plain_distances() {
    let mut rng = ChaCha20Rng::seed_from_u64(12);
    let ours = strings(&mut rng, &[50, 31, 9, 70], 7);
    let theirs = strings(&mut rng, &[40], 7);
    let table = unit_table(7);
    let columns = 0..theirs[0].len();
    let threads = [1, 2, 3].map(|number| WorkerThread::new(number).unwrap());
    let (mut left, mut right) = memory_pair();
    let mut channels: Vec<_> = (0..4).map(|_| memory_pair()).collect();
    std::thread::scope(|scope| {
        let (mut left_channels, mut right_channels): (Vec<_>, Vec<_>) = channels.drain(..).unzip();
        let (ours, table, columns, theirs) = (&ours, &table, &columns, &theirs);
        scope.spawn(move || {
            let mut rng = ChaCha20Rng::seed_from_u64(80);
            let mut first = GarblerSession::start(Kernel::best(), &mut rng, &mut left).unwrap();
            let letters = first.letters(7, columns.len(), &mut left).unwrap();
            let mut sessions = vec![];
            for thread in threads {
                sessions.push(first.for_thread(thread).unwrap());
                assert!(first.for_thread(thread).is_err());
            }
            sessions.push(first);
            let letters = &letters;
            std::thread::scope(|scope| {
                let work = sessions.into_iter().zip(&mut left_channels).zip(ours);
                for ((mut session, channel), ours) in work {
                    scope.spawn(move || {
                        let comparison = GarblerComparison {
                            rows: ours.iter().map(|x| &table[*x][..]).collect::<Vec<_>>(),
                            columns: columns.clone(),
                        };
                        let sums = session.align(
                            &UnitCell,
                            Fold::Sum,
                            letters,
                            &[comparison],
                            channel,
                            &|_| (),
                        );
                        session.reveal_to_peer(&sums.unwrap(), channel).unwrap();
                    });
                }
            });
        });
        let mut rng = ChaCha20Rng::seed_from_u64(81);
        let mut first = EvaluatorSession::start(Kernel::best(), &mut rng, &mut right).unwrap();
        let letters = first.letters(7, &theirs[0], &mut right).unwrap();
        let mut sessions: Vec<_> = threads
            .map(|thread| first.for_thread(thread).unwrap())
            .into();
        sessions.push(first);
        for ((mut session, channel), ours) in
            sessions.into_iter().zip(&mut right_channels).zip(ours)
        {
            let comparison = EvaluatorComparison {
                rows: ours.len(),
                columns: columns.clone(),
            };
            let sums = session.align(
                &UnitCell,
                Fold::Sum,
                &letters,
                &[comparison],
                channel,
                &|_| (),
            );
            let sum = session.decode(&sums.unwrap(), channel).unwrap()[0];
            let expected = theirs[0].len() as u64 + levenshtein(ours, &theirs[0]);
            assert_eq!(ours.len() as u64 + sum, expected);
        }
    });
}
