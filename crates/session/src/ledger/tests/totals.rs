//! What is said about a plan before it starts.

use super::*;

#[test]
fn totals_tell_what_a_plan_adds_from_what_was_counted() {
    let (side, peer) = (Side::new(), fingerprint());
    side.ask(peer, 1, &[0, 0], &[6, 0], None).unwrap();
    // The plan is about the other scanpath.
    let (account, _) = side.account(peer, 2, None, &[0, 0]);
    let totals = account.assess(&[0, 6]).unwrap();
    assert_eq!((totals.before, totals.added, totals.after), (6, 6, 6));
    let totals = account.assess(&[1, 2]).unwrap();
    assert_eq!((totals.before, totals.added, totals.after), (6, 2, 7));
}
