//! Several peers at one door: who has come, who is served, who comes a second time.
//!
//! Each peer is served on a thread of its own, by whatever `hold` does with its channel. At most so many work at a time: `hold`
//! takes a turn ([`Conversation::take_turn`](crate::Conversation::take_turn)) after it has greeted; the others wait, and are
//! told so. Every peer has at most one session, one connection that waits for it and one that is being declined, so all of this is
//! bounded by the number of peers ([`MAX_PEERS`](crate::limits::MAX_PEERS)).
//!
//! # A peer that comes again
//! One that failed, or whose line broke, may come again as long as the host is there: it goes on with what is missing. So may
//! one that is done: it gets its results again, and nothing is computed that both sides have. Once work has begun, it may come for
//! nothing else ([`OneAgreement`]): `hold` keeps the conversation to it.
//!
//! # A peer that is here already
//! Its key proves that it is the same institution, but not that the first connection is dead: it may have crashed and come
//! back before this side noticed, or somebody started the command twice. The first connection is listened to for a while. Whatever
//! it says (a side that computes gives signs of life four times in its patience) shows that it is alive, and the second
//! is declined. If it ends, or has been quiet for a third of this side's patience, the second takes its place.
//!
//! # The end
//! When every peer has had its session to the end, or failed in a way that another attempt cannot mend, or when nobody was there
//! for as long as the host wants to wait.

use crate::door::{Door, Visit};
use crate::line::Watch;
use crate::turns::Turns;
use crate::{Fingerprint, OneAgreement, SecureChannel, SessionError};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How often the state of all is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// What a connection says in its first moments may have been on its way for a while: it proves no life.
const ON_ITS_WAY: Duration = Duration::from_secs(1);

/// What a peer is told that has a session.
const HERE_ALREADY: &str =
    "a session with this key goes on over another connection; wait for its end, or end it first";

/// A peer that has come.
#[derive(Debug)]
pub struct Guest {
    /// Who, as its key has proved.
    pub peer: Fingerprint,
    /// Its place in the door's list.
    pub index: usize,
    /// The connection with it.
    pub channel: SecureChannel,
    /// What its conversation is to be kept to ([`Conversation::keep_to`](crate::Conversation::keep_to)).
    pub agreement: OneAgreement,
    /// Why it is not to be served, where that is so: it is to be told.
    pub declined: Option<&'static str>,
}

/// Why a peer's session did not come to its end.
#[derive(Debug)]
pub struct Parting<E> {
    /// What went wrong.
    pub error: E,
    /// Whether another attempt of the peer could not mend it.
    pub for_good: bool,
}

/// How far a peer has come.
#[derive(Debug)]
pub enum Standing<E> {
    /// It was not here, or not for long enough to say anything.
    Awaited,
    /// Its session came to its end.
    Finished,
    /// Its last session did not.
    Failed(Parting<E>),
}

/// What is done with a guest.
pub type Hold<'a, E> = dyn Fn(Guest, &Turns) -> Result<(), Parting<E>> + Sync + 'a;

/// How peers are received.
#[derive(Clone, Copy, Debug)]
pub struct Reception {
    /// Peers that are worked with at a time.
    pub sessions: usize,
    /// How long to wait when nobody is there.
    pub wait: Duration,
}

/// What is known of one peer.
struct File<'scope, E> {
    standing: Standing<E>,
    agreement: OneAgreement,
    running: Option<Running<'scope>>,
    second: Option<Second>,
    declining: Option<ScopedJoinHandle<'scope, ()>>,
    /// A thread has panicked: the panic goes on when all others have ended.
    crashed: bool,
}

/// A session that goes on.
struct Running<'scope> {
    thread: ScopedJoinHandle<'scope, ()>,
    watch: Option<Watch>,
    cut: bool,
}

/// A connection of a peer whose session goes on.
struct Second {
    channel: SecureChannel,
    came: Instant,
}

impl Reception {
    /// Receives everyone for whom the door is open. `hold` works with one guest on a thread of its own; it takes its turn, and
    /// declines a guest that is not to be served. Gives the standing of each in the order of the door's list.
    pub fn serve<E: Send>(
        &self,
        mut door: Door,
        hold: &Hold<'_, E>,
        stranger: &mut dyn FnMut(&SessionError),
    ) -> Vec<Standing<E>> {
        let turns = Turns::new(self.sessions);
        let (ending, ended) = channel();
        let quiet = door.patience().silence / 3;
        let guests = door.guests().to_vec();
        std::thread::scope(|scope| {
            let hall = Hall {
                scope,
                hold,
                turns: &turns,
                ending,
            };
            let mut files: Vec<File<'_, E>> = guests.iter().map(|_| File::new()).collect();
            let mut active = Instant::now();
            loop {
                // A thread that is over has sent its word before; so what is over without one is looked for first.
                let over: Vec<bool> = files.iter().map(File::is_over).collect();
                for (index, result) in ended.try_iter() {
                    if let Some(file) = files.get_mut(index) {
                        file.end(result);
                    }
                }
                for (file, over) in files.iter_mut().zip(over) {
                    file.note_a_crash(over);
                }
                for (index, file) in files.iter_mut().enumerate() {
                    hall.look_after(index, guests[index], file, quiet);
                }
                let now = Instant::now();
                if files.iter().any(|file| file.running.is_some()) {
                    active = now;
                } else if files.iter().all(File::is_settled) || active.elapsed() > self.wait {
                    break;
                }
                match door.next(now + LOOK) {
                    Some(Visit::Stranger(error)) => stranger(&error),
                    Some(Visit::Peer(peer, channel)) => {
                        let index = guests.iter().position(|guest| *guest == peer);
                        if let Some((index, file)) =
                            index.and_then(|index| Some((index, files.get_mut(index)?)))
                        {
                            hall.receive(index, peer, file, *channel);
                        }
                    }
                    None => {}
                }
            }
            files.into_iter().map(|file| file.standing).collect()
        })
    }
}

/// Where sessions are held.
struct Hall<'scope, 'env, E> {
    scope: &'scope Scope<'scope, 'env>,
    hold: &'env Hold<'env, E>,
    turns: &'env Turns,
    ending: Sender<(usize, Result<(), Parting<E>>)>,
}

impl<'scope, E: Send + 'scope> Hall<'scope, '_, E> {
    fn receive(
        &self,
        index: usize,
        peer: Fingerprint,
        file: &mut File<'scope, E>,
        channel: SecureChannel,
    ) {
        if file.running.is_none() {
            file.running = self.begin(index, peer, &file.agreement, channel);
            return;
        }
        let came = Instant::now();
        if let Some(older) = file.second.replace(Second { channel, came }) {
            abandon(older.channel);
        }
    }

    /// Decides about a second connection as soon as that can be done.
    fn look_after(
        &self,
        index: usize,
        peer: Fingerprint,
        file: &mut File<'scope, E>,
        quiet: Duration,
    ) {
        let Some(second) = file.second.take() else {
            return;
        };
        let Some(running) = &mut file.running else {
            file.running = self.begin(index, peer, &file.agreement, second.channel);
            return;
        };
        let since = second.came.elapsed();
        let alive = match &running.watch {
            Some(watch) => watch.quiet_for() + ON_ITS_WAY < since,
            None => since > ON_ITS_WAY,
        };
        if alive && !running.cut {
            let busy = file.declining.as_ref();
            if busy.is_some_and(|thread| !thread.is_finished()) {
                abandon(second.channel);
            } else {
                file.declining = self.decline(index, peer, &file.agreement, second.channel);
            }
            return;
        }
        if !running.cut
            && let Some(watch) = &running.watch
            && watch.quiet_for() > quiet
        {
            watch.cut();
            running.cut = true;
        }
        file.second = Some(second);
    }

    fn begin(
        &self,
        index: usize,
        peer: Fingerprint,
        agreement: &OneAgreement,
        channel: SecureChannel,
    ) -> Option<Running<'scope>> {
        let watch = channel.watch().ok();
        let guest = Guest {
            peer,
            index,
            channel,
            agreement: agreement.clone(),
            declined: None,
        };
        let (hold, turns, ending) = (self.hold, self.turns, self.ending.clone());
        let work = move || {
            let result = hold(guest, turns);
            let _ = ending.send((index, result));
        };
        // Where there is no thread for it the peer finds the connection closed and comes again.
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, work);
        thread.ok().map(|thread| Running {
            thread,
            watch,
            cut: false,
        })
    }

    /// On a thread of its own: a good-bye takes time.
    fn decline(
        &self,
        index: usize,
        peer: Fingerprint,
        agreement: &OneAgreement,
        channel: SecureChannel,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        let guest = Guest {
            peer,
            index,
            channel,
            agreement: agreement.clone(),
            declined: Some(HERE_ALREADY),
        };
        let (hold, turns) = (self.hold, self.turns);
        let work = move || {
            let _ = hold(guest, turns);
        };
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, work);
        thread.ok()
    }
}

/// Ends a connection without a word, and without the time that a good-bye takes.
fn abandon(channel: SecureChannel) {
    if let Ok(watch) = channel.watch() {
        watch.cut();
    }
}

impl<E> File<'_, E> {
    fn new() -> Self {
        Self {
            standing: Standing::Awaited,
            agreement: OneAgreement::default(),
            running: None,
            second: None,
            declining: None,
            crashed: false,
        }
    }

    /// Whether the thread of a session has ended.
    fn is_over(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.thread.is_finished())
    }

    /// A session that was over and has not said how.
    fn note_a_crash(&mut self, was_over: bool) {
        if was_over && self.running.is_some() {
            self.running = None;
            self.crashed = true;
        }
    }

    fn end(&mut self, result: Result<(), Parting<E>>) {
        self.running = None;
        self.standing = match (result, &self.standing) {
            (Ok(()), _) => Standing::Finished,
            // What is done stays done.
            (Err(_), Standing::Finished) => return,
            (Err(parting), _) => Standing::Failed(parting),
        };
    }

    fn is_settled(&self) -> bool {
        let settled = match &self.standing {
            Standing::Awaited => false,
            Standing::Finished => true,
            Standing::Failed(parting) => parting.for_good,
        };
        (settled || self.crashed) && self.running.is_none() && self.second.is_none()
    }
}
