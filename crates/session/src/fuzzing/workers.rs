//! What a worker shows at a gateway and to another worker, and the files that a worker is given.

use crate::worker::{AgreedPlan, WorkOrder, WorkerCertificate};

/// A worker's certificate. Only a signature can make it valid, for its own tiles.
pub(super) fn certificate(bytes: &[u8]) -> bool {
    let Some(read) = WorkerCertificate::from_bytes(bytes) else {
        return false;
    };
    let written = read.to_bytes().unwrap_or_default();
    assert_eq!(WorkerCertificate::from_bytes(&written), Some(read.clone()));
    let tiles = read.tiles();
    assert!(read.max_connections() >= tiles.map_or(0, |it| (it.last() - it.first() + 1) as usize));
    // It is as old as it may be.
    let now = read
        .expires()
        .checked_sub(crate::worker::MAX_WORKER_KEY_TIME);
    let Some(now) = now else {
        return false;
    };
    let check = |tile| {
        let agreement = read.agreement();
        read.check(read.institution(), read.worker(), agreement, tile, now)
    };
    if let (Ok(_), Some(tiles)) = (check(None), tiles) {
        let next = tiles.last().saturating_add(1);
        assert!(check(Some(tiles.first())).is_ok() && check(Some(next)).is_err());
        return true;
    }
    false
}

/// A work order, and its own part with the plan.
pub(super) fn order(bytes: &[u8]) -> bool {
    let Some(order) = WorkOrder::from_bytes(bytes) else {
        return false;
    };
    let read = |text: &[u8]| WorkOrder::from_bytes(text).map(|it| it.fingerprint());
    let whole = order.to_bytes().ok().and_then(|text| read(&text));
    assert_eq!(whole, Some(order.fingerprint()), "another order");
    let (part, plan) = (order.to_part(), order.plan().for_workers());
    let (Ok(part), Ok(plan)) = (part, plan) else {
        return false;
    };
    let plan = AgreedPlan::from_bytes(&plan);
    let again = plan.and_then(|plan| WorkOrder::from_part(&plan, &part));
    assert_eq!(again.map(|it| it.fingerprint()), whole, "another part");
    if let Some(tiles) = order.tiles() {
        let _ = order.tile(tiles.first());
    }
    true
}

/// The plan of an agreement on tiles.
pub(super) fn plan(bytes: &[u8]) -> bool {
    let Some(plan) = AgreedPlan::from_bytes(bytes) else {
        return false;
    };
    let shared = plan.for_workers().unwrap_or_default();
    let again = AgreedPlan::from_bytes(&shared);
    assert!(again.is_some_and(|it| it.agreement() == plan.agreement()));
    plan.tile_count() > 0
}
