//! RCCL: collectives among the emulated devices of one process.
//!
//! What ranks call waits until all ranks of the clique have called the same; then each rank's device reduces its
//! part of the elements into the buffers of all, or contents are copied.

mod clique;
mod work;

use super::blas::put;
use super::{Answer, Arguments, Problem};
use crate::api::current_device;
use clique::{Clique, RANKS, Rank};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use work::{Call, Element, Kind};

/// The version of RCCL whose functions these are: 2.22.3.
const VERSION: i32 = 22_203;

thread_local! {
    /// Depth of groups that this thread opened, and what it called in them.
    static GROUP: RefCell<(u32, Vec<(usize, Call)>)> = const { RefCell::new((0, Vec::new())) };
}

/// A function of RCCL; `None` for others and for what is not implemented.
pub(super) fn call(function: &str, arguments: &mut Arguments) -> Option<Answer> {
    let name = function.strip_prefix("pnccl").or_else(|| function.strip_prefix("nccl"))?;
    let text = |text: &'static std::ffi::CStr| Some(Ok(text.as_ptr().expose_provenance() as u64));
    let done = match name {
        "GetVersion" => put(arguments.address(), VERSION),
        "GetErrorString" => return text(error(arguments.int())),
        "GetLastError" => return text(c"see standard error"),
        "GetUniqueId" => unique(arguments.address()),
        "CommInitAll" => init_all(arguments),
        "CommInitRank" | "CommInitRankConfig" => init_rank(arguments),
        "CommDestroy" | "CommAbort" => RANKS.remove(arguments.address()),
        "CommFinalize" => RANKS.find(arguments.address()).map(|_| ()),
        "CommCount" => of_rank(arguments, |it| it.clique.ranks() as i32),
        "CommCuDevice" => of_rank(arguments, |it| it.device),
        "CommUserRank" => of_rank(arguments, |it| it.rank as i32),
        "CommGetAsyncError" => of_rank(arguments, |_| 0),
        // Memory needs no registration.
        "CommRegister" => of_third(arguments),
        "CommDeregister" => Ok(()),
        "GroupStart" => {
            GROUP.with_borrow_mut(|it| it.0 += 1);
            Ok(())
        }
        "GroupEnd" => end_group(),
        _ => collective(name, arguments)?,
    };
    Some(done.map(|()| 0))
}

fn error(status: i32) -> &'static std::ffi::CStr {
    match status {
        0 => c"no error",
        1 => c"unhandled cuda error (run with NCCL_DEBUG=INFO for details)",
        2 => c"unhandled system error (run with NCCL_DEBUG=INFO for details)",
        3 => c"internal error - please report this issue to the NCCL developers",
        4 => c"invalid argument (run with NCCL_DEBUG=WARN for details)",
        5 => c"invalid usage (run with NCCL_DEBUG=WARN for details)",
        6 => c"remote process exited or there was a network error",
        7 => c"NCCL operation in progress",
        _ => c"unknown result code",
    }
}

/// Writes a number that no other clique has, with the process that made it.
fn unique(at: usize) -> Result<(), Problem> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let mut id = [0u64; 16];
    id[0] = NEXT.fetch_add(1, Ordering::Relaxed);
    id[1] = u64::from(std::process::id());
    put(at, id)
}

fn init_all(arguments: &mut Arguments) -> Result<(), Problem> {
    let (at, count, devices) = (arguments.address(), arguments.int(), arguments.address());
    let count = usize::try_from(count).ok().filter(|it| *it > 0).ok_or(Problem::Value)?;
    let clique = Clique::new(count, true);
    for rank in 0..count {
        let listed = std::ptr::with_exposed_provenance::<i32>(devices);
        // SAFETY: the program gives a device for each rank, or none.
        let device = if devices == 0 { rank as i32 } else { unsafe { listed.add(rank).read_unaligned() } };
        crate::api::check_device(device)?;
        let number = RANKS.add(Rank { clique: clique.clone(), rank, device });
        put(at.wrapping_add(rank * size_of::<usize>()), number)?;
    }
    Ok(())
}

fn init_rank(arguments: &mut Arguments) -> Result<(), Problem> {
    let (at, ranks) = (arguments.address(), arguments.int());
    let rank = usize::try_from(arguments.int()).map_err(|_| Problem::Value)?;
    let id: [u64; 16] = arguments.value();
    let ranks = usize::try_from(ranks).ok().filter(|it| rank < *it).ok_or(Problem::Value)?;
    if id[1] != u64::from(std::process::id()) {
        return Err(Problem::Unsupported("ranks of one clique are in several processes".to_owned()));
    }
    let clique = clique::named(id[0], ranks)?;
    put(at, RANKS.add(Rank { clique, rank, device: current_device() }))
}

fn of_rank(arguments: &mut Arguments, value: impl Fn(&Rank) -> i32) -> Result<(), Problem> {
    let (number, at) = (arguments.address(), arguments.address());
    put(at, value(&RANKS.find(number)?))
}

/// Writes the address of registered memory as its handle.
fn of_third(arguments: &mut Arguments) -> Result<(), Problem> {
    let (number, memory, _bytes) = (arguments.address(), arguments.address(), arguments.word());
    RANKS.find(number)?;
    put(arguments.address(), memory)
}

/// A collective or a message; `None` for other functions.
fn collective(name: &str, arguments: &mut Arguments) -> Option<Result<(), Problem>> {
    let kind = Kind::of(name)?;
    let mut read = || -> Result<(usize, Call), Problem> {
        let send = arguments.address();
        // One buffer is both for what sends or receives alone.
        let receive = if kind.has_one_buffer() { send } else { arguments.address() };
        let count = usize::try_from(arguments.word()).map_err(|_| Problem::Size)?;
        let element = Element::of(arguments.int())?;
        let op = if kind.reduces() { arguments.int() } else { 0 };
        if !(0..=4).contains(&op) {
            return Err(Problem::Unsupported(format!("operation {op}")));
        }
        let peer = if kind.has_peer() { arguments.int() } else { 0 };
        let number = arguments.address();
        let stream = arguments.address();
        let rank = RANKS.find(number)?;
        let peer = usize::try_from(peer).ok().filter(|it| *it < rank.clique.ranks()).ok_or(Problem::Value)?;
        Ok((number, Call { kind, send, receive, count, element, op, peer, stream }))
    };
    Some(read().and_then(|(number, call)| {
        let in_group = GROUP.with_borrow_mut(|(depth, calls)| {
            if *depth > 0 {
                calls.push((number, call));
            }
            *depth > 0
        });
        if in_group { Ok(()) } else { clique::call(vec![(number, call)]) }
    }))
}

fn end_group() -> Result<(), Problem> {
    let calls = GROUP.with_borrow_mut(|(depth, calls)| match *depth {
        0 => Err(Problem::Unsupported("a group ends that did not begin".to_owned())),
        1 => {
            *depth = 0;
            Ok(std::mem::take(calls))
        }
        _ => {
            *depth -= 1;
            Ok(Vec::new())
        }
    })?;
    clique::call(calls)
}
