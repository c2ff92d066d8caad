//! Races between waves, and reads of memory that nobody has written.
//!
//! Two accesses of different waves to the same bytes, one of them a write and not both atomic, are a race
//! unless something orders them: a barrier of the workgroup, or an atomic that the first wave makes
//! afterwards and the second one made before on the same address. The order of execution in the emulator does
//! not matter. If several waves of a workgroup write one address with the same store instruction, they are
//! assumed to write the same value: Triton's layouts replicate data among waves.
//!
//! An atomic orders the accesses of workgroups only if a release of the agent's scope comes before it, see
//! [`release`]: the caches of the XCDs differ without.
//!
//! Loads and stores of global memory that go past the caches (`sc0`, `sc1`, `glc`) count as atomic: atomic
//! loads and stores compile to these, and those of `volatile`, too. In the LDS such accesses look like any other, so only
//! read-modify-writes count. LDS-DMA loads write at any time between their issue and the wait for them: `dma`
//! tracks the outstanding ones.
//!
//! Written bytes of the LDS are counted here. In global memory, what nothing has written still holds the pattern it was
//! filled with ([`Memory::expect_unwritten`]).

mod dma;
mod private;
mod release;
mod shadow;

use dma::{LdsDma, Outstanding};
use emu::{
    Fault, Launch, LdsDmaLoad, LostAccesses, Memory, MemoryAccess, Observer, Program, Summary, WaveId,
};
use isa::{Access, Bits, Space};
use private::PrivateMemory;
use release::{LastRelease, Releases};
use shadow::{Shadow, Touch};
use std::collections::BTreeMap;

/// Checks to run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Checks {
    /// Races.
    pub races: bool,
    /// Reads of memory that was never written.
    pub uninitialized: bool,
    /// Most memory of the shadow, bytes.
    pub limit: usize,
}

impl Checks {
    /// Default limit of the shadow memory, bytes.
    pub const LIMIT: usize = 1 << 30;

    /// Nothing.
    pub const NONE: Checks = Checks { races: false, uninitialized: false, limit: Checks::LIMIT };

    /// From names separated by commas: `races`, `uninit`. The error is the first unknown name.
    pub fn parse(text: &str) -> Result<Checks, String> {
        let mut checks = Checks::NONE;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "races" => checks.races = true,
                "uninit" => checks.uninitialized = true,
                other => return Err(other.to_string()),
            }
        }
        Ok(checks)
    }

    /// True if any check is enabled.
    pub fn any(self) -> bool {
        self.races || self.uninitialized
    }
}

/// Kind of mistake.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Wrong {
    /// Two waves of a workgroup race in the LDS.
    LdsRace,
    /// Two waves of a workgroup race in global memory.
    GlobalRace,
    /// Two workgroups race.
    GroupRace,
    /// LDS is read that nobody has written.
    Uninitialized,
    /// Global memory is read that nobody has written.
    Unwritten,
    /// A wave accesses LDS before waiting for its own LDS-DMA load to it.
    NotWaited,
    /// A lane reads of its private memory what it has not written.
    Private,
}

/// One of the accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Side {
    /// Index of the instruction in the program.
    pub index: usize,
    /// Workgroup in the grid.
    pub workgroup: [u32; 3],
    /// Wave in it.
    pub wave: u32,
    /// Lane.
    pub lane: u32,
}

/// One mistake, by two instructions or one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Conflict {
    /// Kind of mistake.
    pub wrong: Wrong,
    /// The access that was seen first; with [`Wrong::Uninitialized`], [`Wrong::Unwritten`] and [`Wrong::Private`] the
    /// read, with [`Wrong::NotWaited`] the load into the LDS.
    pub first: Side,
    /// The other one.
    pub second: Side,
    /// First address of the dword; an offset in the LDS.
    pub address: u64,
    /// Dwords of lanes for which it was seen.
    pub times: u64,
}

/// Result of checking a launch.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Checked {
    /// Mistakes, by instruction.
    pub conflicts: Vec<Conflict>,
    /// Accesses that were not watched because the shadow memory was used up.
    pub unwatched: u64,
    /// Accesses of the LDS past its end, which are always counted; unknown for a kernel that faults.
    pub outside: Option<LostAccesses>,
}

/// Most pairs of instructions recorded.
const MOST_PAIRS: usize = 1024;
/// Most atomic addresses recorded per workgroup: ordering atomics come early.
const MOST_SYNCS: usize = 64;
/// Divisor of the shadow's memory: the share a few workgroups use before their accesses are merged with the
/// others'.
const SHARE: usize = 16;
/// Bytes of LDS that are watched.
const MOST_LDS: usize = 1 << 20;
/// Dwords of it.
const MOST_DWORDS: u64 = MOST_LDS as u64 / 4;

/// Runs a kernel with the given checks, without counting events. Returns the mistakes even if the kernel
/// faults.
pub fn check(
    checks: Checks,
    program: &Program,
    memory: &Memory,
    launch: &Launch<'_>,
) -> (Result<Summary, Box<Fault>>, Checked) {
    let atomic: Vec<bool> = program
        .instructions()
        .iter()
        .map(|inst| {
            let kind = inst.mem().map(|mem| mem.access);
            kind == Some(Access::Atomic) || inst.mods.bits.intersects(Bits::SC0 | Bits::SC1)
        })
        .collect();
    // A barrier of the whole grid orders workgroups, and is not seen.
    let grid_barrier = program.instructions().iter().any(|inst| inst.info().name.starts_with("ds_gws"));
    let written = checks.uninitialized && memory.expects_unwritten();
    let releases = Releases::of(program);
    let settled = Settled {
        checks,
        program,
        atomic: &atomic,
        releases: &releases,
        across: !grid_barrier,
        written: written.then_some(memory),
    };
    let mut all =
        Whole { shadow: Shadow::new(checks.limit), syncs: BTreeMap::new(), found: Found::default() };
    let result = emu::run(program, memory, launch, || Check::new(settled), |part| all.take_in(part));
    let groups = launch.workgroups().map(u64::from);
    let unwatched = all.shadow.lost;
    let outside = result.as_ref().ok().and_then(|summary| summary.outside_lds);
    (result, Checked { conflicts: all.found.conflicts(groups), unwatched, outside })
}

/// State that is constant during a launch.
#[derive(Clone, Copy, Debug)]
struct Settled<'a> {
    checks: Checks,
    program: &'a Program,
    /// By instruction: its accesses are atomic.
    atomic: &'a [bool],
    releases: &'a Releases,
    /// Workgroups are compared with each other.
    across: bool,
    /// The memory, if it knows what was never written.
    written: Option<&'a Memory>,
}

impl<'a> Settled<'a> {
    /// Looks for reads of private memory that the lane has not written.
    fn check_private(self, group: &mut Group, found: &mut Found, wave: WaveId, access: &MemoryAccess<'_>) {
        if self.checks.uninitialized {
            group.private.access(self.program, wave, access, &mut |touch, offset, dwords| {
                found.add(Wrong::Private, touch, touch, offset, dwords);
            });
        }
    }

    /// Memory in which an access has to find what was written before. An exchange stores and need not use what it gets.
    fn needs_written(&self, access: &MemoryAccess<'_>) -> Option<&'a Memory> {
        let exchanges = || {
            let name = self.program.instructions().get(access.index).map_or("", |it| it.info().name);
            name.contains("atomic_swap")
        };
        self.written.filter(|_| match access.kind {
            Access::Store => false,
            Access::Atomic => !exchanges(),
            _ => true,
        })
    }
}

/// An atomic access of a wave: others may be ordered by it.
#[derive(Clone, Copy, Debug)]
struct Sync {
    lds: bool,
    address: u64,
    wave: u32,
    first: u32,
    last: u32,
    /// Time of the last release of its wave before the last one.
    released: u32,
}

/// Atomics by workgroup.
type Syncs = BTreeMap<u32, Vec<Sync>>;

/// Whether an address is common to two lists so that the first one's last atomic on it comes after a time and
/// the second one's first before another.
fn ordered<'a>(
    before: impl Iterator<Item = &'a Sync> + Clone,
    after: impl Iterator<Item = &'a Sync>,
    left: u32,
    entered: u32,
) -> bool {
    after
        .filter(|it| it.first < entered)
        .any(|b| before.clone().any(|a| (a.lds, a.address) == (b.lds, b.address) && a.last > left))
}

/// Conflicts by kind and instructions.
#[derive(Debug, Default)]
struct Found(BTreeMap<(Wrong, usize, usize), Seen>);

/// First occurrence of a conflict, and the number of occurrences.
#[derive(Clone, Copy, Debug)]
struct Seen {
    old: Touch,
    new: Touch,
    address: u64,
    times: u64,
}

impl Found {
    fn add(&mut self, wrong: Wrong, old: Touch, new: Touch, address: u64, times: u64) {
        let full = self.0.len() >= MOST_PAIRS;
        // One pair, whichever came first.
        let key = (wrong, old.index().min(new.index()), old.index().max(new.index()));
        if let Some(seen) = self.0.get_mut(&key) {
            seen.times += times;
        } else if !full {
            self.0.insert(key, Seen { old, new, address, times });
        }
    }

    fn conflicts(&self, groups: [u64; 3]) -> Vec<Conflict> {
        let side = |touch: Touch| {
            let number = u64::from(touch.group());
            let [x, y, _] = groups.map(|count| count.max(1));
            let workgroup = [number % x, number / x % y, number / x / y].map(|it| it as u32);
            Side { index: touch.index(), workgroup, wave: touch.wave(), lane: touch.lane() }
        };
        self.0
            .iter()
            .map(|(&(wrong, _, _), &Seen { old, new, address, times })| Conflict {
                wrong,
                first: side(old),
                second: side(new),
                address,
                times,
            })
            .collect()
    }
}

/// The accesses of all workgroups.
struct Whole {
    shadow: Shadow,
    syncs: Syncs,
    found: Found,
}

impl Whole {
    fn take_in(&mut self, part: Check<'_>) {
        for (&(wrong, _, _), &Seen { old, new, address, times }) in &part.found.0 {
            self.found.add(wrong, old, new, address, times);
        }
        self.syncs.extend(part.syncs);
        let Whole { shadow, syncs, found } = self;
        if !part.settled.across {
            shadow.lost += part.global.lost;
            return;
        }
        shadow.take_in(part.global, |dword, old, new| {
            if old.group() != new.group() && !groups_ordered(syncs, old, new) {
                found.add(Wrong::GroupRace, old, new, 4 * dword, 1);
            }
        });
    }
}

/// Whether atomics order accesses of two workgroups.
fn groups_ordered(syncs: &Syncs, old: Touch, new: Touch) -> bool {
    let (Some(before), Some(after)) = (syncs.get(&old.group()), syncs.get(&new.group())) else {
        return false;
    };
    let global = |it: &&Sync| !it.lds;
    // What comes before the release is seen by whoever sees the atomic.
    let ordered = |first: &[Sync], second: &[Sync], left: u32, entered: u32| {
        let first = first.iter().filter(global).filter(|it| it.released >= left);
        ordered(first, second.iter().filter(global), left, entered)
    };
    ordered(before, after, old.time(), new.time()) || ordered(after, before, new.time(), old.time())
}

/// A workgroup that runs.
#[derive(Debug)]
struct Group {
    id: [u32; 3],
    number: u32,
    waves: u32,
    /// Accesses of waves so far.
    time: u32,
    /// Time of the last barrier.
    since: u32,
    lds: Shadow,
    /// By dword of the LDS: bytes written.
    written: Vec<u8>,
    /// Outstanding LDS-DMA loads.
    dma: LdsDma,
    /// By wave: its last release.
    released: BTreeMap<u32, LastRelease>,
    private: PrivateMemory,
}

impl Group {
    /// Bytes written of a dword of the LDS.
    fn written(&mut self, dword: u64) -> &mut u8 {
        let at = dword as usize;
        if self.written.len() <= at {
            self.written.resize(at + 1, 0);
        }
        &mut self.written[at]
    }

    /// Whether some bytes of a dword of the LDS were written; from now on they are if they are now.
    fn touch(&mut self, dword: u64, bytes: u8, writes: bool) -> bool {
        let written = self.written(dword);
        let before = *written;
        if writes {
            *written |= bytes;
        }
        bytes & !before == 0
    }

    /// An atomic of a wave now.
    fn sync(&self, lds: bool, address: u64, wave: u32) -> Sync {
        let released = self.released.get(&wave).map_or(0, |it| it.time);
        Sync { lds, address, wave, first: self.time, last: self.time, released }
    }
}

/// The observer of a few workgroups.
#[derive(Debug)]
struct Check<'a> {
    settled: Settled<'a>,
    global: Shadow,
    groups: Vec<Group>,
    syncs: Syncs,
    found: Found,
}

impl<'a> Check<'a> {
    fn new(settled: Settled<'a>) -> Check<'a> {
        Check {
            settled,
            global: Shadow::new(settled.checks.limit / SHARE),
            groups: Vec::new(),
            syncs: BTreeMap::new(),
            found: Found::default(),
        }
    }
}

/// Records an atomic.
fn remember(syncs: &mut Vec<Sync>, new: Sync) {
    let known = |it: &Sync| it.wave == new.wave && it.address == new.address && it.lds == new.lds;
    match syncs.iter().position(known) {
        Some(at) => (syncs[at].last, syncs[at].released) = (new.last, new.released),
        None if syncs.len() < MOST_SYNCS => syncs.push(new),
        None => {}
    }
}

/// Whether atomics order accesses of two waves of a workgroup.
fn waves_ordered(syncs: &Syncs, old: Touch, new: Touch) -> bool {
    let Some(syncs) = syncs.get(&old.group()) else { return false };
    let of = |wave: u32| syncs.iter().filter(move |it| it.wave == wave);
    ordered(of(old.wave()), of(new.wave()), old.time(), new.time())
}

impl Observer for Check<'_> {
    fn wave_start(&mut self, wave: WaveId, _: u64) {
        let number = wave.workgroup_index as u32;
        if let Some(group) = self.groups.iter_mut().find(|group| group.number == number) {
            group.waves += 1;
            return;
        }
        self.groups.push(Group {
            id: wave.workgroup,
            number,
            waves: 1,
            time: 0,
            since: 0,
            lds: Shadow::new(4 * SHARE * MOST_LDS),
            written: Vec::new(),
            dma: LdsDma::default(),
            released: BTreeMap::new(),
            private: PrivateMemory::default(),
        });
    }

    fn issue_run(&mut self, wave: WaveId, first: usize, count: usize, _: u64) {
        if !self.settled.checks.races {
            return;
        }
        let number = wave.workgroup_index as u32;
        let Some(group) = self.groups.iter_mut().rev().find(|group| group.number == number) else { return };
        let now = group.time;
        group.released.entry(wave.wave).or_default().begin(self.settled.releases, first..first + count, now);
    }

    fn access(&mut self, wave: WaveId, access: &MemoryAccess<'_>) {
        let Check { settled, global, groups, found, syncs } = self;
        let number = wave.workgroup_index as u32;
        let Some(group) = groups.iter_mut().rev().find(|group| group.number == number) else { return };
        let lds = match access.space {
            Space::Lds => true,
            Space::Global | Space::Flat | Space::Buffer | Space::Scalar => false,
            Space::Scratch => return settled.check_private(group, found, wave, access),
            Space::Gds => return,
        };
        if access.kind == Access::Exchange || access.index > Touch::MOST_INDEX || group.time == Touch::LAST {
            return;
        }
        if let Some(released) = group.released.get_mut(&wave.wave) {
            released.pass(access.index, group.time);
        }
        group.time += 1;
        let atomic =
            if lds { access.kind == Access::Atomic } else { settled.atomic.get(access.index) == Some(&true) };
        let writes = matches!(access.kind, Access::Store | Access::Atomic);
        let reads = access.kind != Access::Store;
        let touch = Touch::new(number, wave.wave, access.index, group.time, atomic);
        let needed = settled.needs_written(access).filter(|_| !lds);
        let mut lanes = access.lanes;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            let start = access.addresses[lane];
            let end = start.saturating_add(u64::from(access.bytes.max(1)));
            if lds && end > MOST_LDS as u64 {
                continue;
            }
            if atomic {
                remember(syncs.entry(number).or_default(), group.sync(lds, start, wave.wave));
            }
            if needed.is_some_and(|memory| memory.is_unwritten(start, end - start)) {
                let new = touch.of(lane, 0xf);
                found.add(Wrong::Unwritten, new, new, start, (end - start).div_ceil(4));
            }
            for dword in start / 4..end.div_ceil(4) {
                let from = start.saturating_sub(4 * dword);
                let to = (end - 4 * dword).min(4);
                let new = touch.of(lane, (1 << to) - (1 << from));
                if lds {
                    let bytes = ((1u32 << to) - (1 << from)) as u8;
                    let is_written = group.touch(dword, bytes, writes);
                    if settled.checks.uninitialized && reads && !is_written {
                        found.add(Wrong::Uninitialized, new, new, 4 * dword, 1);
                    }
                }
                if !settled.checks.races {
                    continue;
                }
                if lds {
                    for (load, old) in group.dma.of(dword) {
                        let own = load.wave == wave.wave;
                        let wrong = if own { Wrong::NotWaited } else { Wrong::LdsRace };
                        found.add(wrong, old, new, 4 * dword, 1);
                    }
                }
                let since = group.since;
                let meet = |old: Touch| {
                    if old.group() == number {
                        let apart = old.wave() != wave.wave && old.time() > since;
                        // Compilers let several waves write what all of them hold.
                        let replicated = access.kind == Access::Store && old.index() == access.index;
                        if apart && !replicated && !waves_ordered(syncs, old, new) {
                            let wrong = if lds { Wrong::LdsRace } else { Wrong::GlobalRace };
                            found.add(wrong, old, new, 4 * dword, 1);
                        }
                    } else if !lds && settled.across && !groups_ordered(syncs, old, new) {
                        found.add(Wrong::GroupRace, old, new, 4 * dword, 1);
                    }
                };
                let shadow = if lds { &mut group.lds } else { &mut *global };
                shadow.access(dword, new, writes, since, meet);
            }
        }
    }

    fn lds_dma_load(&mut self, wave: WaveId, load: &LdsDmaLoad) {
        let Check { settled, groups, found, syncs, .. } = self;
        let number = wave.workgroup_index as u32;
        let Some(group) = groups.iter_mut().rev().find(|group| group.number == number) else { return };
        if load.index > Touch::MOST_INDEX || group.time == Touch::LAST {
            return;
        }
        group.time += 1;
        let touch = Touch::new(number, wave.wave, load.index, group.time, false);
        let load = Outstanding::new(wave.wave, touch, *load);
        let since = group.since;
        for (dword, new) in load.dwords(touch, MOST_DWORDS) {
            // A read that comes before the data is a race.
            *group.written(dword) = 0xf;
            if !settled.checks.races {
                continue;
            }
            // Compilers let several waves load what all of them need.
            let replicated = |old: Touch| old.index() == new.index();
            group.lds.meet(dword, new, true, |old| {
                let apart = old.wave() != wave.wave && old.time() > since;
                if apart && !replicated(old) && !waves_ordered(syncs, old, new) {
                    found.add(Wrong::LdsRace, old, new, 4 * dword, 1);
                }
            });
            for (other, old) in group.dma.of(dword) {
                if other.wave != wave.wave && !replicated(old) {
                    found.add(Wrong::LdsRace, old, new, 4 * dword, 1);
                }
            }
        }
        if settled.checks.races {
            group.dma.add(load, MOST_DWORDS);
        }
    }

    fn lds_dma_done(&mut self, wave: WaveId, number: u64) {
        let id = wave.workgroup_index as u32;
        let Some(group) = self.groups.iter_mut().rev().find(|group| group.number == id) else { return };
        for load in group.dma.take_done(wave.wave, number) {
            if group.time == Touch::LAST {
                return;
            }
            group.time += 1;
            let touch = Touch::new(id, wave.wave, load.index(), group.time, false);
            for (dword, new) in load.dwords(touch, MOST_DWORDS) {
                // Whoever touched it since the issue was met then.
                group.lds.access(dword, new, true, group.since, |_| {});
            }
        }
    }

    fn barrier(&mut self, workgroup: [u32; 3]) {
        if let Some(group) = self.groups.iter_mut().rev().find(|group| group.id == workgroup) {
            group.since = group.time;
        }
    }

    fn wave_end(&mut self, wave: WaveId) {
        let number = wave.workgroup_index as u32;
        let Some(at) = self.groups.iter().position(|group| group.number == number) else { return };
        self.groups[at].waves -= 1;
        if self.groups[at].waves == 0 {
            self.groups.swap_remove(at);
        }
    }
}
