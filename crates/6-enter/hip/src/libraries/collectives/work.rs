//! Calls of RCCL that belong together, carried out on the emulated devices.

use super::super::Problem;
use super::super::kernels::{self, Scratch};
use crate::runtime::lock;
use crate::work::{Copy3, Place};
use std::collections::VecDeque;

/// Kind of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    AllReduce,
    Reduce,
    ReduceScatter,
    Broadcast,
    BroadcastInPlace,
    AllGather,
    Gather,
    Scatter,
    AllToAll,
    Send,
    Receive,
}

impl Kind {
    /// By the function's name without its prefix.
    pub(super) fn of(name: &str) -> Option<Kind> {
        Some(match name {
            "AllReduce" => Kind::AllReduce,
            "Reduce" => Kind::Reduce,
            "ReduceScatter" => Kind::ReduceScatter,
            "Broadcast" => Kind::Broadcast,
            "Bcast" => Kind::BroadcastInPlace,
            "AllGather" => Kind::AllGather,
            "Gather" => Kind::Gather,
            "Scatter" => Kind::Scatter,
            "AllToAll" => Kind::AllToAll,
            "Send" => Kind::Send,
            "Recv" => Kind::Receive,
            _ => return None,
        })
    }

    pub(super) fn reduces(self) -> bool {
        matches!(self, Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter)
    }

    pub(super) fn has_one_buffer(self) -> bool {
        matches!(self, Kind::BroadcastInPlace | Kind::Send | Kind::Receive)
    }

    /// It has a root, or another rank that it sends to or receives from.
    pub(super) fn has_peer(self) -> bool {
        !matches!(self, Kind::AllReduce | Kind::ReduceScatter | Kind::AllGather | Kind::AllToAll)
    }

    fn is_message(self) -> bool {
        matches!(self, Kind::Send | Kind::Receive)
    }
}

/// Type of elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Element {
    name: &'static str,
    bytes: usize,
}

impl Element {
    /// By `ncclDataType_t`.
    pub(super) fn of(number: i32) -> Result<Element, Problem> {
        const ALL: [(&str, usize); 10] = [
            ("i8", 1),
            ("u8", 1),
            ("i32", 4),
            ("u32", 4),
            ("i64", 8),
            ("u64", 8),
            ("f16", 2),
            ("f32", 4),
            ("f64", 8),
            ("bf16", 2),
        ];
        let found = usize::try_from(number).ok().and_then(|it| ALL.get(it));
        let (name, bytes) =
            *found.ok_or_else(|| Problem::Unsupported(format!("elements of type {number}")))?;
        Ok(Element { name, bytes })
    }
}

/// A call of one rank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Call {
    pub(super) kind: Kind,
    pub(super) send: usize,
    pub(super) receive: usize,
    /// Elements, as the function counts them.
    pub(super) count: usize,
    pub(super) element: Element,
    pub(super) op: i32,
    /// Root, or the other rank of a message.
    pub(super) peer: usize,
    pub(super) stream: usize,
}

/// The next calls that can be carried out: rank, and place in its list. All ranks' first calls where these are
/// collectives, or a message that is sent and received.
pub(super) fn ready(calls: &[VecDeque<(Call, i32)>]) -> Option<Vec<(usize, usize)>> {
    let first = |rank: usize| calls[rank].front().map(|it| it.0);
    if (0..calls.len()).all(|rank| first(rank).is_some_and(|it| !it.kind.is_message())) {
        return Some((0..calls.len()).map(|rank| (rank, 0)).collect());
    }
    // Messages of a rank overtake each other within a group, and no collective.
    let messages = |rank: usize| {
        calls[rank].iter().map(|it| it.0).enumerate().take_while(|(_, it)| it.kind.is_message())
    };
    (0..calls.len()).find_map(|from| {
        messages(from).filter(|(_, it)| it.kind == Kind::Send).find_map(|(at, send)| {
            let mut received = messages(send.peer);
            let to = received.find(|(_, it)| it.kind == Kind::Receive && it.peer == from)?.0;
            Some(vec![(from, at), (send.peer, to)])
        })
    })
}

/// Carries out calls that belong together: rank, call, device.
pub(super) fn perform(calls: &[(usize, Call, i32)]) -> Result<(), Problem> {
    let Some((_, first, _)) = calls.first() else { return Ok(()) };
    let (count, element, kind) = (first.count, first.element, first.kind);
    let same = |it: &Call| it.element.bytes == element.bytes && it.count == count;
    let is_same = |it: &Call| {
        same(it) && (kind.is_message() || it.kind == kind && it.peer == first.peer && it.op == first.op)
    };
    if !calls.iter().all(|it| is_same(&it.1)) {
        return Err(Problem::Value);
    }
    if calls.iter().any(|it| lock().streams.captured(it.1.stream).is_some()) {
        return Err(Problem::Unsupported("a collective in a stream that is captured".to_owned()));
    }
    let bytes = count.checked_mul(element.bytes).ok_or(Problem::Size)?;
    let copy = |stream: usize, from: usize, to: usize| {
        let place = |address| Place { address, pitch: bytes, slice: bytes };
        if from == to || bytes == 0 {
            return Ok(());
        }
        kernels::copy(stream, Copy3 { from: place(from), to: place(to), width: bytes, height: 1, depth: 1 })
    };
    match kind {
        Kind::AllReduce | Kind::Reduce | Kind::ReduceScatter => reduce(calls),
        Kind::Broadcast | Kind::BroadcastInPlace => {
            let root = calls[first.peer].1;
            calls.iter().try_for_each(|(_, it, _)| copy(it.stream, root.send, it.receive))
        }
        Kind::AllGather => calls.iter().try_for_each(|(_, to, _)| {
            calls.iter().try_for_each(|(rank, from, _)| copy(to.stream, from.send, to.receive + rank * bytes))
        }),
        Kind::Gather => {
            let to = calls[first.peer].1;
            calls.iter().try_for_each(|(rank, from, _)| copy(to.stream, from.send, to.receive + rank * bytes))
        }
        Kind::Scatter => {
            let from = calls[first.peer].1;
            calls.iter().try_for_each(|(rank, to, _)| copy(to.stream, from.send + rank * bytes, to.receive))
        }
        Kind::AllToAll => calls.iter().try_for_each(|(receiver, to, _)| {
            calls.iter().try_for_each(|(sender, from, _)| {
                copy(to.stream, from.send + receiver * bytes, to.receive + sender * bytes)
            })
        }),
        Kind::Send | Kind::Receive => {
            let of = |kind| calls.iter().find(|it| it.1.kind == kind).map(|it| it.1).ok_or(Problem::Value);
            let (send, receive) = (of(Kind::Send)?, of(Kind::Receive)?);
            copy(receive.stream, send.send, receive.receive)
        }
    }
}

/// Reduces: each rank's device computes its part of the elements for every rank that receives them, so that buffers in
/// place are read before they are written.
fn reduce(calls: &[(usize, Call, i32)]) -> Result<(), Problem> {
    let (ranks, first) = (calls.len(), calls[0].1);
    let name = format!("rockhound_reduce_{}", first.element.name);
    for &(rank, call, device) in calls {
        let part = first.count.div_ceil(ranks);
        let begin = (rank * part).min(first.count);
        // First element, number, where the results begin, and who gets them.
        let (begin, count, at, to): (usize, usize, usize, Vec<usize>) = match first.kind {
            Kind::ReduceScatter => (rank * first.count, first.count, 0, vec![call.receive]),
            Kind::Reduce if rank == first.peer => (0, first.count, 0, vec![call.receive]),
            Kind::Reduce => continue,
            _ => (begin, part.min(first.count - begin), begin, calls.iter().map(|it| it.1.receive).collect()),
        };
        if count == 0 {
            continue;
        }
        let buffers: Vec<u8> =
            calls.iter().map(|it| it.1.send).chain(to.iter().copied()).flat_map(usize::to_le_bytes).collect();
        let list = Scratch::new(buffers.len())?;
        lock().allocations.emulated.write(list.address() as u64, &buffers);
        let mut arguments = Vec::with_capacity(44);
        [list.address(), begin, count, at].iter().for_each(|it| arguments.extend(it.to_le_bytes()));
        [ranks as i32, to.len() as i32, first.op].iter().for_each(|it| arguments.extend(it.to_le_bytes()));
        kernels::launch_on(device, call.stream, &name, [count.div_ceil(256) as u64, 1, 1], arguments)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(kind: Kind, peer: usize) -> (Call, i32) {
        let element = Element { name: "f32", bytes: 4 };
        (Call { kind, send: 0, receive: 0, count: 1, element, op: 0, peer, stream: 0 }, 0)
    }

    #[test]
    fn calls_are_matched_when_all_that_belong_to_them_are_there() {
        let all = |lists: &[&[(Call, i32)]]| {
            ready(&lists.iter().map(|it| it.iter().copied().collect()).collect::<Vec<_>>())
        };
        let reduce = call(Kind::AllReduce, 0);
        assert_eq!(all(&[&[reduce], &[]]), None);
        assert_eq!(all(&[&[reduce], &[reduce]]), Some(vec![(0, 0), (1, 0)]));
        // Each sends to the other and then receives.
        let exchange = |peer| [call(Kind::Send, peer), call(Kind::Receive, peer)];
        assert_eq!(all(&[&exchange(1), &exchange(0)]), Some(vec![(0, 0), (1, 1)]));
        assert_eq!(all(&[&exchange(1)[..1], &[reduce]]), None);
        assert_eq!(all(&[&[reduce, call(Kind::Send, 1)], &[call(Kind::Receive, 0)]]), None);
    }
}
