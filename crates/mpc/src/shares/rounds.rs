//! Many tasks over one channel. Each is a sequence of exchanges.
//!
//! A task is an `async` function that computes on its shares and, where the two sides communicate, awaits
//! [`Rounds::exchange`]. [`run`] schedules the tasks cooperatively: it resumes a task with the answer that it awaits,
//! until its next exchange, and sends that message while other tasks compute. This hides latency as long as several
//! tasks are active.
//!
//! Both sides run the same tasks and the sizes of all messages are public, so both resume them in the same order, and
//! messages need no headers. A task must not wait for anything but its own exchanges and transfers.

use super::pool::{Demand, MAX_SURPLUS_OF_TASKS, Pool};
use crate::error::MpcError;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The exchanges of a task: outgoing messages, and answers that it awaits.
#[derive(Default)]
pub(crate) struct Rounds {
    posts: RefCell<VecDeque<Exchange>>,
    next: Cell<u64>,
    demand: Cell<Option<Demand>>,
    #[cfg(test)]
    exchanges: Cell<u64>,
}

/// One exchange. Several can be under way if a task does several things at the same time.
struct Exchange {
    number: u64,
    /// `None` once it is sent.
    outgoing: Option<Zeroizing<Vec<u8>>>,
    expected: usize,
    incoming: Option<Zeroizing<Vec<u8>>>,
}

impl Rounds {
    /// Sends a message while the other side sends one of `expected` bytes.
    pub(crate) fn exchange(
        &self,
        message: Zeroizing<Vec<u8>>,
        expected: usize,
    ) -> impl Future<Output = Zeroizing<Vec<u8>>> + '_ {
        let mut message = Some(message);
        let mut number = 0;
        std::future::poll_fn(move |_| {
            let mut posts = self.posts.borrow_mut();
            if let Some(message) = message.take() {
                number = self.next.get();
                self.next.set(number + 1);
                posts.push_back(Exchange {
                    number,
                    outgoing: Some(message),
                    expected,
                    incoming: None,
                });
                return Poll::Pending;
            }
            let at = posts
                .iter()
                .position(|post| post.number == number && post.incoming.is_some());
            match at
                .and_then(|at| posts.remove(at))
                .and_then(|post| post.incoming)
            {
                Some(answer) => Poll::Ready(answer),
                None => Poll::Pending,
            }
        })
    }

    /// Makes sure that the pool has these transfers. Call it only while no exchange of this task is under way.
    pub(crate) async fn reserve(&self, demand: Demand) {
        self.demand.set(Some(demand));
        std::future::poll_fn(|_| match self.demand.get() {
            Some(_) => Poll::Pending,
            None => Poll::Ready(()),
        })
        .await;
    }

    /// How often the task waited for a message.
    #[cfg(test)]
    pub(crate) fn exchanges(&self) -> u64 {
        self.exchanges.get()
    }

    fn send(&self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        for post in self.posts.borrow_mut().iter_mut() {
            if let Some(message) = post.outgoing.take() {
                channel.send(&message)?;
            }
        }
        Ok(channel.flush()?)
    }

    fn receive(&self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        let mut posts = self.posts.borrow_mut();
        for post in posts.iter_mut().filter(|post| post.incoming.is_none()) {
            let mut message = Zeroizing::new(vec![0; post.expected]);
            channel.receive(&mut message)?;
            post.incoming = Some(message);
        }
        #[cfg(test)]
        self.exchanges.set(self.exchanges.get() + 1);
        Ok(())
    }
}

/// A task, and the exchanges through which it sends its messages.
pub(crate) struct Task<'a, T> {
    pub(crate) rounds: Rc<Rounds>,
    pub(crate) future: Pin<Box<dyn Future<Output = Result<T, MpcError>> + 'a>>,
}

/// Runs tasks, `at_once` of them at the same time. Returns their results in the order of the tasks.
pub(crate) fn run<'a, T>(
    mut tasks: impl Iterator<Item = Task<'a, T>>,
    at_once: usize,
    pool: &RefCell<Pool>,
    channel: &mut dyn Channel,
) -> Result<Vec<T>, MpcError> {
    let mut runner = Runner {
        results: Vec::new(),
        waiting: VecDeque::new(),
        ready: VecDeque::new(),
        active: 0,
        pool,
        channel,
    };
    loop {
        while runner.active < at_once.max(1)
            && let Some(task) = tasks.next()
        {
            let number = runner.results.len();
            runner.results.push(None);
            runner.active += 1;
            runner.advance(number, task)?;
        }
        if let Some((number, task)) = runner.ready.pop_front() {
            runner.advance(number, task)?;
        } else if !runner.receive_next()? {
            break;
        }
    }
    Ok(runner.results.into_iter().flatten().collect())
}

/// Expected messages of the other side, in order.
enum Expected<'a, T> {
    Messages(usize, Task<'a, T>),
    Batch,
}

struct Runner<'a, 'r, T> {
    results: Vec<Option<T>>,
    waiting: VecDeque<Expected<'a, T>>,
    /// Tasks whose messages have arrived.
    ready: VecDeque<(usize, Task<'a, T>)>,
    active: usize,
    pool: &'r RefCell<Pool>,
    channel: &'r mut dyn Channel,
}

impl<'a, T> Runner<'a, '_, T> {
    /// Lets a task compute until it waits for a message, and sends what it posted.
    fn advance(&mut self, number: usize, mut task: Task<'a, T>) -> Result<(), MpcError> {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            match task.future.as_mut().poll(&mut context) {
                Poll::Ready(result) => {
                    self.results[number] = Some(result?);
                    self.active -= 1;
                    return Ok(());
                }
                Poll::Pending => match task.rounds.demand.take() {
                    Some(demand) => self.make_transfers(demand)?,
                    None => {
                        task.rounds.send(self.channel)?;
                        self.waiting.push_back(Expected::Messages(number, task));
                        return Ok(());
                    }
                },
            }
        }
    }

    /// Makes transfers until the pool can reserve these.
    fn make_transfers(&mut self, demand: Demand) -> Result<(), MpcError> {
        loop {
            let start = self.pool.borrow().missing(demand);
            for _ in 0..start {
                self.pool.borrow_mut().start_batch(self.channel)?;
                self.waiting.push_back(Expected::Batch);
            }
            let mut pool = self.pool.borrow_mut();
            if pool.reserve(demand) {
                return pool.limit_surplus(MAX_SURPLUS_OF_TASKS);
            }
            drop(pool);
            self.receive_next()?;
        }
    }

    /// Receives the next expected message. Returns `false` if none is expected.
    fn receive_next(&mut self) -> Result<bool, MpcError> {
        match self.waiting.pop_front() {
            Some(Expected::Messages(number, task)) => {
                task.rounds.receive(self.channel)?;
                self.ready.push_back((number, task));
                Ok(true)
            }
            Some(Expected::Batch) => {
                self.pool.borrow_mut().complete_batch(self.channel)?;
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

/// Runs two parts of a task at the same time: their exchanges share messages.
pub(crate) async fn join2<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    let (mut first, mut second) = (std::pin::pin!(first), std::pin::pin!(second));
    let (mut a, mut b) = (None, None);
    std::future::poll_fn(move |context| {
        if a.is_none()
            && let Poll::Ready(value) = first.as_mut().poll(context)
        {
            a = Some(value);
        }
        if b.is_none()
            && let Poll::Ready(value) = second.as_mut().poll(context)
        {
            b = Some(value);
        }
        match (a.take(), b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (first, second) => {
                (a, b) = (first, second);
                Poll::Pending
            }
        }
    })
    .await
}

/// As [`join2`], for any number of parts.
pub(crate) async fn join_all<T>(parts: Vec<impl Future<Output = T>>) -> Vec<T> {
    let mut parts: Vec<_> = parts
        .into_iter()
        .map(|part| (Box::pin(part), None))
        .collect();
    std::future::poll_fn(move |context| {
        for (part, value) in &mut parts {
            if value.is_none()
                && let Poll::Ready(ready) = part.as_mut().poll(context)
            {
                *value = Some(ready);
            }
        }
        match parts.iter().all(|(_, value)| value.is_some()) {
            true => Poll::Ready(
                parts
                    .iter_mut()
                    .filter_map(|(_, value)| value.take())
                    .collect(),
            ),
            false => Poll::Pending,
        }
    })
    .await
}
