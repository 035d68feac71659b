use super::*;

/// Whatever the peer says, the number of an agreement is not reused, and grows only if this side's user asks for that.
#[test]
fn a_peer_cannot_choose_the_number_of_an_agreement() {
    let lead = MAX_NUMBER_LEAD;
    let numbers = [0, 1, 2, 7, lead, lead + 1, u32::MAX - 1, u32::MAX];
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
                assert!(number - ours <= MAX_NUMBER_LEAD + 1, "{ours} {number}");
            }
        }
    }
}

/// A side that has lost its files gets the number of the other side.
#[test]
fn lost_files_take_the_number_of_the_other_side() {
    let ready = |number, fresh| Ready {
        plan: String::new(),
        number,
        fresh,
        nonce: String::new(),
    };
    for last in [1, 5, MAX_NUMBER_LEAD] {
        let (lost, other) = (ready(0, true), ready(last, false));
        assert_eq!(agree_on_number(&lost, &other).unwrap(), last);
        assert_eq!(agree_on_number(&other, &lost).unwrap(), last);
    }
}
