//! A representative XCD at work, on its own thread or on the caller's.
//!
//! A worker gets the same workgroups in the same order on any thread and shares no state, so results do not
//! depend on threads.

use crate::grid::Grid;
use crate::op::Op;
use crate::outcome::Outcome;
use crate::rates::Rates;
use crate::workgroup::PendingWorkgroup;
use crate::xcd_group::XcdGroup;
use mem::Shape;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{JoinHandle, spawn};

/// Messages that a thread's channel holds before the sender blocks.
const WAITING: usize = 4;

/// A dispatch to begin.
pub(crate) struct DispatchStart {
    /// For the creation of an XCD: its sizes, its rates, and the number of XCDs it represents.
    pub(crate) parts: (Shape, Rates, usize),
    pub(crate) grid: Grid,
    pub(crate) ops: Arc<[Op]>,
    /// Workgroups to expect.
    pub(crate) groups: u64,
    /// Set once no further workgroup is needed.
    pub(crate) steady: Arc<AtomicBool>,
}

impl DispatchStart {
    fn begin(self, xcd_group: Option<Box<XcdGroup>>) -> Box<XcdGroup> {
        let (shape, rates, of) = &self.parts;
        let mut xcd_group = xcd_group.unwrap_or_else(|| Box::new(XcdGroup::new(shape, rates, *of)));
        xcd_group.begin(self.grid, self.ops, std::iter::once(self.groups), Some(self.steady));
        xcd_group
    }
}

/// Message to a worker's thread.
enum Message {
    /// The next workgroups, and the bytes of streams to hold.
    Groups(Vec<PendingWorkgroup>, usize),
    /// All workgroups have arrived; addresses of the executed instructions.
    End(Arc<[Range<u64>]>),
}

/// A representative XCD in a dispatch.
#[derive(Debug)]
pub(crate) struct XcdWorker(At);

#[derive(Debug)]
enum At {
    /// On the caller's thread, with the outcome after the end.
    Here(Box<XcdGroup>, Option<Box<Outcome>>),
    Thread(SyncSender<Message>, JoinHandle<(Box<XcdGroup>, Option<Box<Outcome>>)>),
}

impl XcdWorker {
    /// Begins a dispatch. The thread also creates the XCD and clears its caches.
    pub(crate) fn new(xcd_group: Option<Box<XcdGroup>>, begin: DispatchStart, own_thread: bool) -> XcdWorker {
        XcdWorker(match own_thread {
            false => At::Here(begin.begin(xcd_group), None),
            true => {
                let (sender, receiver) = sync_channel(WAITING);
                At::Thread(sender, spawn(move || work(begin.begin(xcd_group), &receiver)))
            }
        })
    }

    /// Sends the next workgroups.
    pub(crate) fn push(&mut self, groups: Vec<PendingWorkgroup>, most_held: usize) {
        match &mut self.0 {
            At::Here(xcd_group, _) => xcd_group.push(groups.into_iter().map(|it| (0, it)), most_held),
            // A thread that is gone has panicked; the join reports it.
            At::Thread(to, _) => drop(to.send(Message::Groups(groups, most_held))),
        }
    }

    /// Announces that all workgroups have arrived.
    pub(crate) fn end(&mut self, code: &Arc<[Range<u64>]>) {
        match &mut self.0 {
            At::Here(xcd_group, outcome) => *outcome = Some(Box::new(xcd_group.finish(code))),
            At::Thread(to, _) => drop(to.send(Message::End(code.clone()))),
        }
    }

    /// Returns the XCD, with the outcome if the dispatch has ended.
    pub(crate) fn leave(self) -> (Box<XcdGroup>, Option<Box<Outcome>>) {
        match self.0 {
            At::Here(xcd_group, outcome) => (xcd_group, outcome),
            At::Thread(to, thread) => {
                drop(to);
                thread.join().unwrap_or_else(|panic| resume_unwind(panic))
            }
        }
    }
}

fn work(mut xcd_group: Box<XcdGroup>, messages: &Receiver<Message>) -> (Box<XcdGroup>, Option<Box<Outcome>>) {
    let mut outcome = None;
    for message in messages {
        match message {
            Message::Groups(groups, most_held) => {
                xcd_group.push(groups.into_iter().map(|it| (0, it)), most_held)
            }
            Message::End(code) => outcome = Some(Box::new(xcd_group.finish(&code))),
        }
    }
    (xcd_group, outcome)
}
