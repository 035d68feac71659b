//! The limits of a plan that has tiles.

use super::*;

/// In one tile, pairs have counted again and again. What is left of the plan is then not what is left of its limit.
#[test]
fn a_tile_that_cannot_finish_within_the_limit_is_refused_before_it_starts() {
    let side = Side::new();
    let peer = fingerprint();
    let account = |index| {
        let limits = Limits {
            chosen: Some(vec![4; 2]),
            ..unlimited()
        };
        let names = Account::names(&side.identity, &side.cohort);
        let scope = (&[1; 32], Tile::new(index, 2).ok());
        let opened = Account::open(side.file(peer), names, scope, &limits, &[0, 0]);
        opened.unwrap().0
    };
    // Each scanpath is in two pairs of each tile.
    let (all, of_tile) = ([4, 4], [2, 2]);
    let mut first = account(1);
    first.check_plan(&all, &of_tile).unwrap();
    first.charge(&[2, 2]).unwrap();
    account(2).check_plan(&all, &of_tile).unwrap();
    // One pair of the first scanpath is started again.
    first.charge(&[1, 0]).unwrap();
    first.check_plan(&all, &[0, 0]).unwrap();
    let second = account(2);
    let refused = second.check_plan(&all, &of_tile).unwrap_err();
    let SessionError::Limit(Limit::Comparisons(exceeded)) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((exceeded.needed(), exceeded.limit), (5, 4));
    assert_eq!((exceeded.before, exceeded.exceeded), (3, 1));
    let estimate = second.assess_plan(&all, &of_tile).unwrap();
    assert_eq!(estimate.exceeded.map(|it| it.needed()), Some(5));
    // What is left of the tile fits.
    second.check_plan(&all, &[1, 2]).unwrap();
}
