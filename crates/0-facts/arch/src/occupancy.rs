//! Waves per compute unit, the limiter, and the distance to the next step.
//!
//! The hardware places whole workgroups. Each resource admits a number of workgroups; the smallest is the
//! occupancy, and waves follow from it.

use crate::residency::Residency;

/// Resources that one workgroup of a kernel needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Resources {
    /// Architectural vector registers per lane.
    pub vgprs: u32,
    /// Accumulation registers per lane.
    pub agprs: u32,
    /// Scalar registers per wave, with those the hardware reserves (as the metadata counts them).
    pub sgprs: u32,
    /// LDS of one workgroup, bytes.
    pub lds_bytes: u32,
    /// Waves of one workgroup; 0 counts as 1.
    pub waves_per_workgroup: u32,
}

/// A resource that can limit the occupancy.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Limiter {
    /// Vector registers: the whole file where VGPRs and AGPRs share it.
    Vgpr,
    /// Accumulation registers, if they have a separate file.
    Agpr,
    /// Scalar registers.
    Sgpr,
    /// Local data share.
    Lds,
    /// Barrier slots: workgroups of more than one wave.
    BarrierSlots,
    /// Wave slots: no other resource limits the occupancy.
    WaveSlots,
}

impl Limiter {
    /// Name for people.
    pub fn name(self) -> &'static str {
        match self {
            Limiter::Vgpr => "VGPR",
            Limiter::Agpr => "AGPR",
            Limiter::Sgpr => "SGPR",
            Limiter::Lds => "LDS",
            Limiter::BarrierSlots => "barrier slots",
            Limiter::WaveSlots => "wave slots",
        }
    }

    /// Unit in which the resource is counted.
    pub fn unit(self) -> &'static str {
        match self {
            Limiter::Vgpr | Limiter::Agpr | Limiter::Sgpr => "registers",
            Limiter::Lds => "bytes",
            Limiter::BarrierSlots => "workgroups",
            Limiter::WaveSlots => "waves",
        }
    }
}

/// Occupancy limit of one resource.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limit {
    /// The resource.
    pub resource: Limiter,
    /// Requested amount, per lane (VGPR, AGPR), wave (SGPR) or workgroup (LDS, slots).
    pub used: u32,
    /// Allocated amount, rounded up to the granule.
    pub allocated: u32,
    /// Amount per SIMD (registers, wave slots) or compute unit (LDS, barrier slots).
    pub capacity: u32,
    /// Workgroups per compute unit it admits.
    pub workgroups: u32,
    /// Further amount that can be used without losing a workgroup on this resource.
    pub headroom: u32,
}

/// Gain in occupancy from reducing the use of one resource, all else unchanged.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Step {
    /// The resource.
    pub resource: Limiter,
    /// Largest use at which the step is reached.
    pub at_most: u32,
    /// Reduction needed to reach it.
    pub shed: u32,
    /// Waves per SIMD this resource would admit then.
    pub admits: f64,
    /// Waves per SIMD the kernel would have then; equal to now when another resource stops it.
    pub waves_per_simd: f64,
}

/// Waves a compute unit holds of one kernel.
#[derive(Clone, PartialEq, Debug)]
pub struct Occupancy {
    /// Workgroups per compute unit; 0 when not even one fits.
    pub workgroups_per_cu: u32,
    /// Waves per compute unit.
    pub waves_per_cu: u32,
    /// Waves per SIMD, on average over the SIMDs.
    pub waves_per_simd: f64,
    /// Wave slots per SIMD.
    pub max_waves_per_simd: u32,
    /// Limiter of the occupancy. If several limit it: wave slots if among them, else the first in the order
    /// of [`Limiter`].
    pub limiter: Limiter,
    /// Limit of each resource.
    pub limits: Vec<Limit>,
    /// Next boundary per resource that has one.
    pub next: Vec<Step>,
    /// If several resources limit equally: reductions of each that are needed together to gain waves. Empty
    /// if reducing one is enough, and if slots are the limiter.
    pub together: Vec<Step>,
}

impl Occupancy {
    /// All resources at the limit: all of them must be reduced to gain waves.
    pub fn limiters(&self) -> impl Iterator<Item = Limiter> {
        self.limits
            .iter()
            .filter(|limit| limit.workgroups == self.workgroups_per_cu)
            .map(|limit| limit.resource)
    }
}

/// Rounding of an LDS allocation that costs workgroups.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LdsRounding {
    /// Requested bytes of a workgroup.
    pub used: u32,
    /// Allocated bytes.
    pub allocated: u32,
    /// Allocation granule, bytes.
    pub granule: u32,
    /// Workgroups per compute unit that fit.
    pub workgroups: u32,
    /// Workgroups that a calculation without the granule gives.
    pub unrounded: u32,
    /// Waves per SIMD by that calculation.
    pub unrounded_waves_per_simd: f64,
}

/// The rounding of LDS, if it lowers the occupancy of a kernel; `occupancy` is the kernel's.
pub fn lds_rounding(
    target: impl Into<Residency>,
    asked: &Resources,
    occupancy: &Occupancy,
) -> Option<LdsRounding> {
    let target = target.into();
    let limit = occupancy.limits.iter().find(|limit| limit.resource == Limiter::Lds)?;
    let others = occupancy.limits.iter().filter(|it| it.resource != Limiter::Lds).map(|it| it.workgroups);
    let unrounded = limit.capacity.checked_div(limit.used)?.min(others.min()?);
    (occupancy.workgroups_per_cu > 0 && unrounded > occupancy.workgroups_per_cu).then(|| LdsRounding {
        used: limit.used,
        allocated: limit.allocated,
        granule: target.lds_granule,
        workgroups: occupancy.workgroups_per_cu,
        unrounded,
        unrounded_waves_per_simd: Budget::new(target, asked).per_simd(unrounded),
    })
}

/// A row of the table of boundaries.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Boundary {
    /// Waves per SIMD the resource admits.
    pub waves_per_simd: f64,
    /// Workgroups per compute unit it admits.
    pub workgroups: u32,
    /// Largest use for that number.
    pub at_most: u32,
}

/// Registers taken per lane in a unified file: AGPRs begin at the next step above the VGPRs.
pub fn vgprs_allocated(target: impl Into<Residency>, vgprs: u32, agprs: u32) -> u32 {
    let target = target.into();
    let total = match (target.unified, agprs) {
        (true, 1..) => vgprs
            .checked_next_multiple_of(target.accum_offset_granule)
            .unwrap_or(u32::MAX)
            .saturating_add(agprs),
        _ => vgprs,
    };
    round_up(total, target.vgpr_granule)
}

/// Occupancy of a kernel on a target.
pub fn occupancy(target: impl Into<Residency>, resources: &Resources) -> Occupancy {
    let budget = Budget::new(target.into(), resources);
    let limits: Vec<Limit> = budget.resources().map(|resource| budget.limit(resource)).collect();
    let workgroups = limits.iter().map(|limit| limit.workgroups).min().unwrap_or(0);
    let stops =
        |resource| limits.iter().any(|l: &Limit| l.resource == resource && l.workgroups == workgroups);
    let limiter = if stops(Limiter::WaveSlots) {
        Limiter::WaveSlots
    } else {
        budget.resources().find(|resource| stops(*resource)).unwrap_or(Limiter::WaveSlots)
    };
    let next = budget
        .resources()
        .filter_map(|resource| {
            let current = limits.iter().find(|limit| limit.resource == resource)?;
            let others =
                limits.iter().filter(|l| l.resource != resource).map(|l| l.workgroups).min().unwrap_or(0);
            let row =
                budget.boundaries(resource).into_iter().rev().find(|b| b.workgroups > current.workgroups)?;
            Some(Step {
                resource,
                at_most: row.at_most,
                shed: current.used.saturating_sub(row.at_most),
                admits: row.waves_per_simd,
                waves_per_simd: budget.per_simd(row.workgroups.min(others)),
            })
        })
        .collect();
    let together = budget.together(&limits, workgroups);
    Occupancy {
        workgroups_per_cu: workgroups,
        waves_per_cu: workgroups * budget.waves,
        waves_per_simd: budget.per_simd(workgroups),
        max_waves_per_simd: budget.slots,
        limiter,
        limits,
        next,
        together,
    }
}

/// Workgroups that fit on a compute unit at a time: [`Occupancy::workgroups_per_cu`] without the rest.
pub fn workgroups_per_cu(target: impl Into<Residency>, resources: &Resources) -> u32 {
    let budget = Budget::new(target.into(), resources);
    budget.resources().map(|resource| budget.workgroups(resource, budget.demand(resource))).min().unwrap_or(0)
}

/// The steps of one resource for a kernel's workgroup size, most waves first; empty for slots, whose use a
/// kernel cannot reduce.
pub fn boundaries(target: impl Into<Residency>, resources: &Resources, resource: Limiter) -> Vec<Boundary> {
    Budget::new(target.into(), resources).boundaries(resource)
}

/// A kernel's demand against a target's supply.
struct Budget<'a> {
    target: Residency,
    asked: &'a Resources,
    /// Waves per workgroup, at least 1.
    waves: u32,
    simds: u32,
    /// Wave slots per SIMD.
    slots: u32,
}

impl<'a> Budget<'a> {
    fn new(target: Residency, asked: &'a Resources) -> Self {
        Budget {
            target,
            asked,
            waves: asked.waves_per_workgroup.max(1),
            simds: target.simds_per_cu,
            slots: target.waves_per_simd,
        }
    }

    fn resources(&self) -> impl Iterator<Item = Limiter> + use<> {
        let separate = !self.target.unified && self.target.agprs_addressable > 0;
        let scalar = self.target.sgprs_per_simd.is_some();
        [Limiter::Vgpr, Limiter::Agpr, Limiter::Sgpr, Limiter::Lds, Limiter::BarrierSlots, Limiter::WaveSlots]
            .into_iter()
            .filter(move |resource| match resource {
                Limiter::Agpr => separate,
                Limiter::Sgpr => scalar,
                _ => true,
            })
    }

    fn per_simd(&self, workgroups: u32) -> f64 {
        f64::from(workgroups) * f64::from(self.waves) / f64::from(self.simds)
    }

    /// Workgroups that fit into `per_simd` wave slots on every SIMD.
    fn workgroups_in(&self, per_simd: u32) -> u32 {
        per_simd * self.simds / self.waves
    }

    /// Workgroups that a resource admits, from what a workgroup uses, what it is allocated, and what there is.
    fn workgroups(&self, resource: Limiter, (used, allocated, capacity): (u32, u32, u32)) -> u32 {
        match resource {
            Limiter::WaveSlots => {
                if self.waves > self.target.waves_per_workgroup {
                    0
                } else {
                    self.workgroups_in(self.slots)
                }
            }
            // A workgroup of one wave needs no barrier.
            Limiter::BarrierSlots if self.waves == 1 => self.slots * self.simds,
            Limiter::BarrierSlots => capacity,
            Limiter::Lds if used > self.target.lds_bytes_per_workgroup => 0,
            Limiter::Lds => capacity.checked_div(allocated).unwrap_or(u32::MAX).min(self.slots * self.simds),
            _ if used > self.most_stated(resource) => 0,
            _ => self.workgroups_in(capacity.checked_div(allocated).unwrap_or(u32::MAX).min(self.slots)),
        }
    }

    fn limit(&self, resource: Limiter) -> Limit {
        let (used, allocated, capacity) = self.demand(resource);
        let workgroups = self.workgroups(resource, (used, allocated, capacity));
        let headroom = self
            .boundaries(resource)
            .into_iter()
            .find(|row| row.workgroups <= workgroups)
            .map_or(0, |row| row.at_most.saturating_sub(used));
        Limit { resource, used, allocated, capacity, workgroups, headroom }
    }

    /// See [`Occupancy::together`].
    fn together(&self, limits: &[Limit], now: u32) -> Vec<Step> {
        let (stop, others): (Vec<&Limit>, Vec<&Limit>) =
            limits.iter().partition(|limit| limit.workgroups == now);
        if stop.len() < 2 {
            return Vec::new();
        }
        let rows: Option<Vec<(&Limit, Boundary)>> = stop
            .into_iter()
            .map(|limit| {
                let rows = self.boundaries(limit.resource);
                Some((limit, rows.into_iter().rev().find(|row| row.workgroups > now)?))
            })
            .collect();
        let Some(rows) = rows else { return Vec::new() };
        let admitted = rows.iter().map(|(_, row)| row.workgroups);
        let then = admitted.chain(others.iter().map(|limit| limit.workgroups)).min().unwrap_or(now);
        rows.into_iter()
            .map(|(limit, row)| Step {
                resource: limit.resource,
                at_most: row.at_most,
                shed: limit.used.saturating_sub(row.at_most),
                admits: row.waves_per_simd,
                waves_per_simd: self.per_simd(then),
            })
            .collect()
    }

    /// Used, allocated and available amount.
    fn demand(&self, resource: Limiter) -> (u32, u32, u32) {
        let target = &self.target;
        let Resources { vgprs, agprs, sgprs, lds_bytes, .. } = *self.asked;
        match resource {
            Limiter::Vgpr => {
                let allocated = vgprs_allocated(self.target, vgprs, agprs);
                let used = if target.unified && agprs > 0 {
                    let begin = target.accum_offset_granule;
                    round_up(vgprs, begin).saturating_add(agprs)
                } else {
                    vgprs
                };
                (used, allocated, target.vgprs_per_lane)
            }
            Limiter::Agpr => (agprs, round_up(agprs, target.vgpr_granule), target.vgprs_per_lane),
            Limiter::Sgpr => {
                (sgprs, round_up(sgprs, target.sgpr_granule), target.sgprs_per_simd.unwrap_or(u32::MAX))
            }
            Limiter::Lds => (lds_bytes, round_up(lds_bytes, target.lds_granule), target.lds_bytes),
            Limiter::BarrierSlots => {
                let slots = self.target.barrier_slots;
                let used = u32::from(self.waves > 1);
                (used, used, slots)
            }
            Limiter::WaveSlots => (self.waves, self.waves, self.slots),
        }
    }

    /// Most registers one wave can name.
    fn addressable(&self, resource: Limiter) -> u32 {
        let target = &self.target;
        match resource {
            // Metadata and people count both kinds as one number where they share a file.
            Limiter::Vgpr if target.unified => target.vgprs_per_lane,
            Limiter::Vgpr => target.vgprs_addressable,
            Limiter::Agpr => target.agprs_addressable,
            _ => target.sgprs_addressable,
        }
    }

    /// Largest count a kernel may state. Assemblers state scalar registers after rounding up to the granule.
    fn most_stated(&self, resource: Limiter) -> u32 {
        let addressable = self.addressable(resource);
        match resource {
            Limiter::Sgpr => round_up(addressable, self.target.sgpr_granule),
            _ => addressable,
        }
    }

    fn boundaries(&self, resource: Limiter) -> Vec<Boundary> {
        let target = &self.target;
        let row =
            |workgroups, at_most| Boundary { waves_per_simd: self.per_simd(workgroups), workgroups, at_most };
        let mut rows: Vec<Boundary> = match resource {
            Limiter::Vgpr | Limiter::Agpr | Limiter::Sgpr => {
                let (capacity, granule) = match resource {
                    Limiter::Sgpr => (target.sgprs_per_simd.unwrap_or(u32::MAX), target.sgpr_granule),
                    _ => (target.vgprs_per_lane, target.vgpr_granule),
                };
                let addressable = self.addressable(resource);
                (1..=self.slots)
                    .rev()
                    .map(|waves| {
                        let most = (capacity / waves / granule * granule).min(addressable);
                        row(self.workgroups_in(waves), most)
                    })
                    .collect()
            }
            Limiter::Lds => {
                let granule = target.lds_granule;
                let most = self.limit_by_slots();
                (1..=most)
                    .rev()
                    .map(|workgroups| {
                        let share = target.lds_bytes / workgroups / granule * granule;
                        row(workgroups, share.min(target.lds_bytes_per_workgroup))
                    })
                    .collect()
            }
            Limiter::BarrierSlots | Limiter::WaveSlots => Vec::new(),
        };
        // Of several amounts that admit the same number of workgroups the largest counts, and of several
        // numbers of workgroups within the same amount the largest.
        rows.retain(|row| row.workgroups > 0);
        rows.dedup_by(|later, earlier| {
            let same = later.workgroups == earlier.workgroups;
            if same {
                earlier.at_most = earlier.at_most.max(later.at_most);
            }
            same || later.at_most == earlier.at_most
        });
        rows
    }

    /// Workgroups the wave and barrier slots admit: no use to share LDS among more.
    fn limit_by_slots(&self) -> u32 {
        let waves = self.workgroups_in(self.slots);
        if self.waves > 1 { waves.min(self.target.barrier_slots) } else { waves }
    }
}

fn round_up(amount: u32, granule: u32) -> u32 {
    amount.checked_next_multiple_of(granule).unwrap_or(u32::MAX)
}
