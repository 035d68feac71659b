use super::*;

/// Whatever the peer says, the number of an agreement is not used again and grows only if this side's user asks.
#[test]
fn a_peer_cannot_choose_the_number_of_an_agreement() {
    let numbers = [0, 1, 2, 7, u32::MAX - 1, u32::MAX];
    let ready = |number, fresh| Ready {
        plan: String::new(),
        number,
        fresh,
        nonce: String::new(),
    };
    for (ours, theirs) in numbers.iter().flat_map(|a| numbers.map(|b| (*a, b))) {
        for their_fresh in [false, true] {
            let theirs = ready(theirs, their_fresh);
            if let Ok(number) = agree_on_number(&ready(ours, false), &theirs) {
                assert_eq!(number, ours);
            }
            if let Ok(number) = agree_on_number(&ready(ours, true), &theirs) {
                assert!(number > ours);
            }
        }
    }
}
