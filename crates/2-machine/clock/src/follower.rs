//! One XCD that stands for some, on a thread of its own or on that of whoever pushes.
//!
//! The one idea to keep in mind: it gets the same workgroups in the same order on any thread, and knows of nothing else.

use crate::dies::{Dies, Waiting};
use crate::gpu::Grid;
use crate::op::Op;
use crate::outcome::Outcome;
use crate::rates::Rates;
use mem::Shape;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{JoinHandle, spawn};

/// Deliveries that wait for a thread before whoever pushes waits for it.
const WAITING: usize = 4;

/// A dispatch, before its workgroups come.
pub(crate) struct Begin {
    /// What is made where there is no XCD yet: the parts of one, how fast they are, and how many it stands for.
    pub(crate) parts: (Shape, Rates, usize),
    pub(crate) grid: Grid,
    pub(crate) ops: Arc<[Op]>,
    /// Workgroups that will come.
    pub(crate) groups: u64,
}

impl Begin {
    fn begin(self, dies: Option<Box<Dies>>) -> Box<Dies> {
        let (shape, rates, of) = &self.parts;
        let mut dies = dies.unwrap_or_else(|| Box::new(Dies::new(shape, rates, *of)));
        dies.begin(self.grid, self.ops, std::iter::once(self.groups));
        dies
    }
}

/// What a thread is told.
enum Message {
    /// The next workgroups, and how many bytes of streams may be held.
    Groups(Vec<Waiting>, usize),
    /// All have come; what ran.
    End(Arc<[Range<u64>]>),
}

/// An XCD at work on a dispatch that has begun.
#[derive(Debug)]
pub(crate) struct Follower(At);

#[derive(Debug)]
enum At {
    /// Here, with what it came to if the dispatch has ended.
    Here(Box<Dies>, Option<Box<Outcome>>),
    Thread(SyncSender<Message>, JoinHandle<(Box<Dies>, Option<Box<Outcome>>)>),
}

impl Follower {
    /// An XCD begins a dispatch; what it takes to make one, and to clear its caches, is done on its own thread too.
    pub(crate) fn new(dies: Option<Box<Dies>>, begin: Begin, own_thread: bool) -> Follower {
        Follower(match own_thread {
            false => At::Here(begin.begin(dies), None),
            true => {
                let (sender, receiver) = sync_channel(WAITING);
                At::Thread(sender, spawn(move || work(begin.begin(dies), &receiver)))
            }
        })
    }

    /// The next workgroups.
    pub(crate) fn push(&mut self, groups: Vec<Waiting>, most_held: usize) {
        match &mut self.0 {
            At::Here(dies, _) => dies.push(groups.into_iter().map(|it| (0, it)), most_held),
            // A thread that is gone has panicked, which is seen when it is joined.
            At::Thread(to, _) => drop(to.send(Message::Groups(groups, most_held))),
        }
    }

    /// All workgroups have come.
    pub(crate) fn end(&mut self, code: &Arc<[Range<u64>]>) {
        match &mut self.0 {
            At::Here(dies, outcome) => *outcome = Some(Box::new(dies.finish(code))),
            At::Thread(to, _) => drop(to.send(Message::End(code.clone()))),
        }
    }

    /// The XCD, and what it came to if the dispatch has ended.
    pub(crate) fn leave(self) -> (Box<Dies>, Option<Box<Outcome>>) {
        match self.0 {
            At::Here(dies, outcome) => (dies, outcome),
            At::Thread(to, thread) => {
                drop(to);
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        }
    }
}

fn work(mut dies: Box<Dies>, messages: &Receiver<Message>) -> (Box<Dies>, Option<Box<Outcome>>) {
    let mut outcome = None;
    for message in messages {
        match message {
            Message::Groups(groups, most_held) => dies.push(groups.into_iter().map(|it| (0, it)), most_held),
            Message::End(code) => outcome = Some(Box::new(dies.finish(&code))),
        }
    }
    (dies, outcome)
}
