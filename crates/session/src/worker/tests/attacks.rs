//! What a stolen worker key, a partner with many tiles, and a wrong state directory cannot do.

use super::*;
use crate::worker::gateway::greeting;

/// Signatures of the same text are the same: a worker that is dropped comes back within the same second.
#[test]
fn a_worker_may_come_back_to_the_gateway_at_once() {
    use crate::relay::GreetingForm;
    let world = World::new(Engine::Garbled);
    let order = world.order(0, "1-3");
    let mut form = WorkerGreetings::of(&order.plan);
    for _ in 0..5 {
        let greeting = greeting(&order.key, &order.certificate, &order.plan, tile(2)).unwrap();
        assert!(form.read(&greeting).unwrap().is_ok());
    }
}
