//! A GPU that runs dispatches.
//!
//! The one idea to keep in mind: a dispatch is followed on all dies at once, or on some that stand for all and know nothing
//! of each other. Which is settled by the workgroups that come first, and nothing depends on when they do.

use crate::dies::{Dies, Waiting};
use crate::follower::{Begin, Follower};
use crate::op::Op;
use crate::outcome::Outcome;
use crate::rates::Rates;
use crate::share::{Choice, Detail, FOLLOWED, Wanted, followed, together};
use crate::side::Side;
use arch::Model;
use mem::{Batch, Count, Forms, Sample, Shape};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of streams that are held, if nothing else is said, before waves run on although not all places are taken.
const MOST_HELD: usize = 512 << 20;

/// Forms of batches that are kept to be found again.
const MOST_KNOWN: usize = 4;

/// What there is to know about a launch before it runs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Grid {
    /// Workgroups.
    pub groups: u64,
    /// Workgroups a compute unit holds.
    pub groups_per_unit: u32,
    /// Bytes of scratch of a wave.
    pub scratch: u64,
    /// Memory of the host that the runtime uses: arguments and packets.
    pub arguments: Vec<Range<u64>>,
    /// What the program has in memory of the host.
    pub host: Vec<Range<u64>>,
    /// Address of the first instruction.
    pub entry: u64,
    /// Which XCD gets which workgroup.
    pub order: Order,
    /// What was written is made visible to the host at the end.
    pub released: bool,
}

/// Which XCD gets which workgroup of a grid.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    /// Workgroups go round the XCDs, as the hardware deals them out.
    #[default]
    Round,
    /// Each XCD gets workgroups that follow each other: those of a kernel that swizzles its workgroup numbers.
    Blocks,
}

impl Order {
    /// The XCD of a workgroup of the grid.
    pub(crate) fn xcd(self, group: u64, groups: u64, xcds: u64) -> u64 {
        match self {
            Order::Round => group % xcds,
            // The first XCDs have one more where the grid does not divide.
            Order::Blocks => {
                let (each, more) = (groups / xcds, groups % xcds);
                let large = more * (each + 1);
                match group < large {
                    true => group / (each + 1),
                    false => more + (group - large) / each.max(1),
                }
            }
        }
    }
}

/// A GPU with what its caches keep.
#[derive(Debug)]
pub struct Gpu {
    shape: Shape,
    rates: Rates,
    detail: Detail,
    most_held: usize,
    threads: usize,
    /// All dies, and those that stand for all; each made when it is first needed.
    all: Option<Box<Dies>>,
    some: Option<[Box<Dies>; FOLLOWED]>,
    /// Some stood for all in the dispatch before.
    shared: bool,
    grid: Grid,
    ops: Arc<[Op]>,
    way: Way,
    wanted: Arc<Wanted>,
    arrived: u64,
    /// Accesses that are in no stream.
    dropped: u64,
    /// Forms that came last: batches mostly have the same, which are then kept once.
    known: VecDeque<Arc<Forms>>,
}

/// How a dispatch is followed.
#[derive(Debug)]
enum Way {
    Undecided(Choice),
    All,
    /// With what was read since each got a workgroup, by XCD.
    Some([Follower; FOLLOWED], [Vec<(usize, Sample)>; FOLLOWED]),
}

impl Gpu {
    /// A GPU whose caches are empty.
    pub fn new(model: &Model) -> Gpu {
        Gpu::with_rates(model, &Rates::of(model))
    }

    /// The same with other rates.
    pub fn with_rates(model: &Model, rates: &Rates) -> Gpu {
        Gpu {
            shape: Shape::of(model),
            rates: rates.clone(),
            detail: Detail::Full,
            most_held: MOST_HELD,
            threads: 1,
            all: None,
            some: None,
            shared: false,
            grid: Grid::default(),
            ops: Arc::new([]),
            way: Way::All,
            wanted: Arc::new(Wanted::new(Order::Round, 0, 1)),
            arrived: 0,
            dropped: 0,
            known: VecDeque::new(),
        }
    }

    /// Holds at most so many bytes of streams, one batch besides: then waves run on although not all places are taken.
    pub fn hold(&mut self, bytes: usize) {
        self.most_held = bytes;
    }

    /// How much of each dispatch is followed.
    pub fn follow(&mut self, detail: Detail) {
        self.detail = detail;
    }

    /// From the next dispatch on, dies that know nothing of each other are followed on so many threads.
    pub fn spread(&mut self, threads: usize) {
        self.threads = threads;
    }

    /// Sizes of its parts.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// How fast its parts are.
    pub fn rates(&self) -> &Rates {
        &self.rates
    }

    /// A dispatch of a program with these instructions begins; one that was not finished is forgotten.
    pub fn begin(&mut self, grid: Grid, ops: Arc<[Op]>) {
        self.come_back();
        (self.arrived, self.dropped) = (0, 0);
        self.known.clear();
        self.wanted = Arc::new(Wanted::new(grid.order, grid.groups, self.shape.xcds));
        (self.grid, self.ops) = (grid, ops);
        match Choice::new(self.detail, self.shape.xcds, self.grid.groups) {
            Some(choice) => self.way = Way::Undecided(choice),
            None => self.follow_all(),
        }
    }

    /// Which workgroups' streams this dispatch wants; those of others need not be there.
    pub fn wanted(&self) -> Arc<Wanted> {
        self.wanted.clone()
    }

    /// The next workgroups, in the order of the grid.
    pub fn push(&mut self, batch: Batch) {
        let Batch { groups, forms } = batch;
        let shared = forms.bytes() / groups.len().max(1);
        let forms = match self.known.iter().find(|known| ***known == *forms) {
            Some(known) => known.clone(),
            None => {
                self.known.truncate(MOST_KNOWN - 1);
                self.known.push_front(forms.clone());
                forms
            }
        };
        let mut came = Vec::with_capacity(groups.len());
        for group in groups {
            let xcd = self.wanted.xcd(self.arrived);
            self.arrived += 1;
            let bytes = group.bytes() + shared;
            came.push((xcd, Waiting { group, forms: forms.clone(), bytes, read: Vec::new() }));
        }
        self.go_on(came);
    }

    /// Workgroups come, each with its XCD.
    fn go_on(&mut self, came: Vec<(usize, Waiting)>) {
        match &mut self.way {
            Way::Undecided(choice) => {
                let mut came = came.into_iter();
                while let Some((xcd, waiting)) = came.next() {
                    choice.came(xcd, waiting);
                    if choice.ready(self.most_held) {
                        self.decide();
                        return self.go_on(came.collect());
                    }
                }
            }
            Way::All => {
                self.dropped += came.iter().map(|(_, waiting)| waiting.group.dropped).sum::<u64>();
                if let Some(all) = &mut self.all {
                    all.push(came, self.most_held);
                }
            }
            Way::Some(..) => self.hand_out(came),
        }
    }

    /// Enough workgroups have come, or all, to choose.
    fn decide(&mut self) {
        let Way::Undecided(choice) = &mut self.way else { return };
        let shares = choice.shares();
        let came = std::mem::take(&mut choice.groups);
        if shares {
            self.follow_some();
            self.hand_out(came);
        } else {
            self.follow_all();
            self.go_on(came);
        }
    }

    /// All dies are followed.
    fn follow_all(&mut self) {
        let all = self.all.get_or_insert_with(|| Box::new(Dies::new(&self.shape, &self.rates, 1)));
        if std::mem::take(&mut self.shared)
            && let Some(some) = &mut self.some
        {
            hand_over(some, std::slice::from_mut(all));
        }
        let xcds = self.shape.xcds as u64;
        let missing = (0..xcds).map(|xcd| of_xcd(self.grid.groups, xcd, xcds));
        all.begin(self.grid.clone(), self.ops.clone(), missing);
        self.way = Way::All;
    }

    /// Some dies are followed, each by itself.
    fn follow_some(&mut self) {
        self.wanted.only_some();
        let xcds = self.shape.xcds;
        let parts = (Shape { xcds: 1, ..self.shape.clone() }, self.rates.clone(), xcds);
        let mut some = self.some.take().map_or([None, None], |some| some.map(Some));
        if let Some(all) = &mut self.all {
            let (shape, rates, of) = &parts;
            let mut dies = some.map(|it| it.unwrap_or_else(|| Box::new(Dies::new(shape, rates, *of))));
            if !self.shared {
                hand_over(std::slice::from_mut(all), &mut dies);
            }
            exchange(xcds, all, &mut dies);
            some = dies.map(Some);
        }
        self.shared = true;
        let mut numbers = followed(xcds).into_iter();
        let followers = some.map(|dies| {
            let groups = of_xcd(self.grid.groups, numbers.next().unwrap_or(0) as u64, xcds as u64);
            let begin =
                Begin { parts: parts.clone(), grid: self.grid.clone(), ops: self.ops.clone(), groups };
            Follower::new(dies, begin, self.threads > 1)
        });
        self.way = Way::Some(followers, Default::default());
    }

    /// Gives workgroups to the followed dies they come to.
    fn hand_out(&mut self, came: Vec<(usize, Waiting)>) {
        let Way::Some(followers, read) = &mut self.way else { return };
        let mut each: [Vec<Waiting>; FOLLOWED] = Default::default();
        let numbers = followed(self.shape.xcds);
        for (xcd, mut waiting) in came {
            read.iter_mut().for_each(|read| read.push((xcd, waiting.group.read.clone())));
            if let Some(at) = numbers.iter().position(|&number| number == xcd) {
                // Each stands for some.
                self.dropped += waiting.group.dropped * (self.shape.xcds / FOLLOWED) as u64;
                waiting.read = std::mem::take(&mut read[at]);
                each[at].push(waiting);
            }
        }
        for (follower, groups) in followers.iter_mut().zip(each) {
            if !groups.is_empty() {
                follower.push(groups, self.most_held / FOLLOWED);
            }
        }
    }

    /// All workgroups have come. `code` are the addresses of the instructions that ran, as ranges in order.
    pub fn finish(&mut self, code: &[Range<u64>]) -> Outcome {
        self.decide();
        if let Way::Some(followers, _) = &mut self.way {
            let code = Arc::from(code);
            followers.iter_mut().for_each(|follower| follower.end(&code));
        }
        let some = self.come_back().map(|outcomes| together(outcomes, self.shape.xcds));
        let all = || self.all.as_mut().map(|all| all.finish(code));
        let mut outcome = some.or_else(all).unwrap_or_default();
        outcome.tally.add(Count::Dropped, self.dropped);
        outcome
    }

    /// Dies that were followed by themselves are here again; what they came to.
    fn come_back(&mut self) -> Option<[Outcome; FOLLOWED]> {
        let Way::Some(followers, _) = std::mem::replace(&mut self.way, Way::All) else { return None };
        let [first, second] = followers.map(Follower::leave);
        let mut dies = [first.0, second.0];
        if let Some(all) = &mut self.all {
            exchange(self.shape.xcds, all, &mut dies);
        }
        self.some = Some(dies);
        Some([*first.1?, *second.1?])
    }
}

/// Followed dies and all dies exchange what the caches have that are followed.
fn exchange(xcds: usize, all: &mut Dies, some: &mut [Box<Dies>; FOLLOWED]) {
    for (number, dies) in followed(xcds).into_iter().zip(some) {
        all.caches.exchange(number, &mut dies.caches);
    }
}

/// Workgroups of a grid that come to an XCD.
fn of_xcd(groups: u64, xcd: u64, xcds: u64) -> u64 {
    groups.saturating_sub(xcd).div_ceil(xcds)
}

/// What some dies have of the memory-side cache, others can look into that are followed from now on. Those have their own again.
fn hand_over(from: &mut [Box<Dies>], to: &mut [Box<Dies>]) {
    let lent: Vec<_> = from.iter_mut().filter_map(|it| it.memory.side.as_mut()?.gives_back()).collect();
    let lent = lent.into_iter().filter_map(Arc::into_inner).next_back();
    for (dies, side) in to.iter_mut().zip(lent.unwrap_or_default()) {
        dies.memory.side = Some(side);
    }
    let sides: Vec<Side> = from.iter_mut().filter_map(|it| it.memory.side.take()).collect();
    let sides = Arc::new(sides);
    for side in to.iter_mut().filter_map(|it| it.memory.side.as_mut()) {
        side.follows(sides.clone());
    }
}
