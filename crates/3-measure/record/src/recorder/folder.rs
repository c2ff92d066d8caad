//! The recording as the files of a folder.
//!
//! Files that profilers also write have the profilers' format; data that only an emulator knows has separate
//! files.

use super::{Dispatch, Recorder};
use crate::cache_state::CacheState;
use crate::marks::{self, Apart};
use clock::{Detail, RepresentativeXcds};
use mem::MOST_PER_GROUP;
use probe::Value;
use std::collections::BTreeMap;
use workload::{
    INSTRUCTIONS_FILE, INSTRUCTIONS_HEADER, MARKS_FILE, Machine, Marks, OCCUPANCY_FILE, OCCUPANCY_HEADER,
    PREDICTIONS_FILE, PREDICTIONS_HEADER, PredictionLine, RunOf, SHARES_FILE, SHARES_HEADER, Share,
    write_instructions, write_occupancy, write_prediction, write_share,
};

/// Version of the column names of `sysinfo.csv`.
const SYSINFO_VERSION: &str = "2";

/// Dispatches that a note names.
const MOST_NAMED: usize = 3;

/// Origin of the workload.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Provenance {
    /// Name of the workload.
    pub name: String,
    /// Command line.
    pub command: String,
    /// Program that emulates, with its version.
    pub emulator: String,
}

impl Recorder {
    pub(super) fn machine(&self, provenance: &Provenance) -> Machine {
        let (model, target) = (self.model, self.model.target());
        let mut facts = BTreeMap::new();
        let mut fact = |name: &str, value: String| {
            facts.insert(name.to_string(), value);
        };
        fact("workload_name", provenance.name.clone());
        fact("command", provenance.command.clone());
        let emulator = &provenance.emulator;
        let emulator = match self.most_workgroups {
            0 if self.counters_only => format!("{emulator}, counters of execution only"),
            0 => emulator.clone(),
            most => format!("{emulator}, a sample of at most {most} workgroups of each dispatch"),
        };
        let caches = match self.caches {
            CacheState::Profiled => String::new(),
            other => format!(", caches {}", other.name()),
        };
        fact("emulated_by", format!("{emulator}{caches}"));
        fact("version", SYSINFO_VERSION.to_string());
        fact("gpu_model", model.short().to_string());
        fact("gpu_arch", target.name.to_string());
        fact("gpu_l1", (target.vector_l1.bytes.value / 1024).to_string());
        fact("gpu_l2", (target.l2.bytes_per_xcd.value / 1024).to_string());
        fact("cu_per_gpu", model.compute_units.value.to_string());
        fact("simd_per_cu", target.simds_per_cu.value.to_string());
        fact("sqc_per_gpu", (model.xcds.value * target.scalar_caches_per_xcd()).to_string());
        fact("se_per_gpu", model.shader_engines.value.to_string());
        fact("wave_size", target.lanes_per_wave.value.to_string());
        fact("max_waves_per_cu", target.waves_per_cu().to_string());
        fact("max_sclk", model.engine_mhz.value.to_string());
        fact("cur_sclk", model.running_mhz().to_string());
        if let Some(held) = model.held_matrix_mhz().filter(|_| self.lowest_mhz().is_some()) {
            fact("matrix_sclk", held.to_string());
        }
        if let Some(memory) = model.memory_mhz.value() {
            fact("max_mclk", memory.to_string());
        }
        fact("total_l2_chan", (model.xcds.value * target.l2.channels_per_xcd.value).to_string());
        fact("lds_banks_per_cu", target.lds.banks.value.to_string());
        fact("num_xcd", model.xcds.value.to_string());
        fact("num_hbm_channels", model.hbm.channels.value.to_string());
        fact("hbm_bw", model.hbm.gb_per_s.value.to_string());
        Machine { facts }
    }

    /// The instructions of all dispatches, as the file [`INSTRUCTIONS_FILE`].
    pub fn instructions(&self) -> String {
        let mut out = format!("{INSTRUCTIONS_HEADER}\n");
        for it in &self.dispatches {
            let of = RunOf { dispatch: it.id, kernel: &it.kernel, symbol: &it.symbol, code: &it.code };
            write_instructions(&mut out, of, &it.instructions);
        }
        out
    }

    /// Predicted times of the dispatches, as the file [`PREDICTIONS_FILE`].
    fn predictions(&self) -> Option<String> {
        self.dispatches.iter().find(|it| !it.predicted.is_empty())?;
        let mut out = format!("{PREDICTIONS_HEADER}\n");
        for dispatch in &self.dispatches {
            for it in &dispatch.predicted {
                let of = PredictionLine {
                    dispatch: dispatch.id,
                    kernel: &dispatch.kernel,
                    lifted: it.lifted,
                    name: &it.name,
                    title: &it.title,
                    nanoseconds: whole(it.nanoseconds),
                    hurried: it.hurried,
                };
                write_prediction(&mut out, &of);
            }
        }
        Some(out)
    }

    /// Dispatches that were simulated in part, as the file [`SHARES_FILE`]; `None` if the settings exclude
    /// that.
    fn shares(&self) -> Option<String> {
        let some = self.dispatches.iter().any(|it| it.followed.is_some());
        if self.detail == Detail::Full || !clock::can_share(self.model) && !some {
            return None;
        }
        let xcds = self.model.xcds.value;
        let mut out = format!("{SHARES_HEADER}\n");
        for dispatch in &self.dispatches {
            if let Some(Apart { time, counts }) = apart_of(dispatch) {
                let share = Share {
                    row: 0,
                    followed: dispatch.shared.map_or(xcds, |it| it.simulated),
                    xcds,
                    time_error: time / 100.0,
                    count_error: counts / 100.0,
                    workgroups: dispatch.followed.map(|it| [it.followed, it.workgroups]),
                };
                write_share(&mut out, dispatch.id, &dispatch.kernel, &share);
            }
        }
        Some(out)
    }

    /// Occupancy of dispatches over time, as the file [`OCCUPANCY_FILE`]; `None` if the timing model did not
    /// run.
    fn occupancy(&self) -> Option<String> {
        self.dispatches.iter().find(|it| it.occupancy.is_some())?;
        let mut out = format!("{OCCUPANCY_HEADER}\n");
        for dispatch in &self.dispatches {
            if let Some([waves, units]) = &dispatch.occupancy {
                write_occupancy(&mut out, dispatch.id, &dispatch.kernel, waves, units);
            }
        }
        Some(out)
    }

    /// Trust in each quantity.
    fn marks(&self) -> Marks {
        let target = self.model.target().name;
        let times = self.dispatches.iter().filter_map(|it| it.time.as_ref()).map(|it| it.nanoseconds);
        let is_atomic =
            |it: &(&str, Value)| marks::ATOMIC_COUNTERS.contains(&it.0) && it.1.known() != Some(0);
        let atomics = self.dispatches.iter().any(|it| it.counters.iter().any(is_atomic));
        let some = (self.most_workgroups > 0, atomics);
        marks::marks(target, self.known.iter().copied(), some, times, self.apart())
    }

    /// Largest likely error of dispatches that were simulated in part; `None` if there are none.
    fn apart(&self) -> Option<Apart> {
        self.dispatches
            .iter()
            .filter_map(apart_of)
            .reduce(|a, b| Apart { time: a.time.max(b.time), counts: a.counts.max(b.counts) })
    }

    /// Notes for the user about dispatches that were not simulated completely.
    pub fn notes(&self) -> Vec<String> {
        let which = |is: fn(&Dispatch) -> bool| {
            let names: Vec<String> = self
                .dispatches
                .iter()
                .filter(|it| is(it))
                .map(|it| format!("{} (`{}`)", it.id, it.kernel))
                .collect();
            let shown = names.iter().take(MOST_NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
            match names.len() {
                0 => None,
                count if count > MOST_NAMED => Some(format!("{count} dispatches ({shown}, ..)")),
                _ => Some(format!("dispatch {shown}")),
            }
        };
        let cut = which(|it| it.cut).map(|which| {
            format!(
                "{which}: no caches and no times: what one workgroup did takes more than the {} MiB that are kept of it in memory, and \
                 the temporary folder has no room for the rest (`TMPDIR` names another); counts that depend on neither are there",
                MOST_PER_GROUP >> 20
            )
        });
        let hurried = which(|it| it.hurried).map(|which| {
            format!(
                "{which}: workgroups did not all run in the order in which they find places, for want of memory; take times with care"
            )
        });
        let no_time = which(|it| it.no_time.is_some())
            .zip(self.dispatches.iter().find_map(|it| it.no_time.as_deref()))
            .map(|(which, reason)| format!("{which}: no caches and no times: {reason}"));
        let more = no_time.into_iter().chain(cut).chain(hurried);
        self.shared().into_iter().chain(self.followed()).chain(self.lowered()).chain(more).collect()
    }

    /// Dispatches whose clock matrix work lowers, and the lowest mean clock in megahertz.
    fn lowest_mhz(&self) -> Option<(&Dispatch, f64)> {
        let all = self.dispatches.iter().filter_map(|it| Some((it, it.lowered_mhz?)));
        all.min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The assumed clock under matrix work, in words; `None` where it lowers no clock by a hundredth.
    fn lowered(&self) -> Option<String> {
        let running = f64::from(self.model.running_mhz());
        let (dispatch, mhz) = self.lowest_mhz().filter(|it| it.1 <= 0.99 * running)?;
        let held = self.model.held_matrix_mhz()?;
        Some(format!(
            "dispatch {} (`{}`): its time is at {mhz:.0} MHz in the mean: {held} while matrix units work, which long matrix work \
             holds, {running:.0} else; `--gpu {}@{running:.0}` gives the time of a single launch on an idle GPU",
            dispatch.id,
            dispatch.kernel,
            self.model.key()
        ))
    }

    /// Workgroups followed, in words; `None` if all were.
    fn followed(&self) -> Option<String> {
        let mut all = self.dispatches.iter().filter_map(|it| Some((it, it.followed?)));
        let (dispatch, it) = all.next()?;
        let more = match all.count() {
            0 => String::new(),
            more => format!("; {more} other dispatches likewise"),
        };
        Some(format!(
            "dispatch {} (`{}`): caches and times are from the first {} of {} workgroups, after which they repeat each other; \
             expected error of the time from that {:.1} %{more}; `--clock-detail full` follows all",
            dispatch.id,
            dispatch.kernel,
            it.followed,
            it.workgroups,
            100.0 * it.time_error
        ))
    }

    /// Error estimate, in words, for dispatches simulated on representative XCDs; `None` if all XCDs were
    /// simulated.
    fn shared(&self) -> Option<String> {
        let all: Vec<RepresentativeXcds> = self.dispatches.iter().filter_map(|it| it.shared).collect();
        let first = all.first()?;
        let most = |of: fn(&RepresentativeXcds) -> f64| 100.0 * all.iter().map(of).fold(0.0, f64::max);
        let which = match all.len() {
            1 if self.dispatches.len() == 1 => String::new(),
            count => format!(" of {count} dispatches"),
        };
        Some(format!(
            "caches and times{which} are from {} of {} XCDs, which differ by {:.1} % in time and {:.1} % in counts at most, for which \
             errors are stated larger; `--clock-detail full` follows all",
            first.simulated,
            first.xcds,
            most(|it| it.time_error),
            most(|it| it.count_error)
        ))
    }

    /// A recorder with the dispatches from the given one on, and the columns of all.
    pub fn since(&self, first: usize) -> Recorder {
        let dispatches = self.dispatches.get(first..).unwrap_or_default().to_vec();
        let length = dispatches.iter().filter_map(length).sum();
        let before = self.before + self.length - length;
        let (code, known) = (self.code.clone(), self.known.clone());
        let most_channels = self.most_channels.clone();
        Recorder {
            dispatches,
            before,
            length,
            code,
            known,
            most_channels,
            gpu: None,
            clocks: Vec::new(),
            events: BTreeMap::new(),
            spill_store: None,
            ..*self
        }
    }

    /// The executed code objects, also for the folder. Names are hashes of the contents, so an existing file
    /// need not be written again.
    pub fn code_objects(&self) -> impl Iterator<Item = (String, &[u8])> {
        self.code.values().map(|code| (code.file(), code.bytes()))
    }

    /// All files of the folder but the code objects, by name.
    pub fn files(&self, provenance: &Provenance) -> BTreeMap<String, Vec<u8>> {
        let mut files = workload::write(&self.workload(provenance));
        files.insert(INSTRUCTIONS_FILE.to_string(), self.instructions().into_bytes());
        if let Some(text) = self.predictions() {
            files.insert(PREDICTIONS_FILE.to_string(), text.into_bytes());
        }
        files.insert(MARKS_FILE.to_string(), self.marks().write().into_bytes());
        if let Some(text) = self.shares() {
            files.insert(SHARES_FILE.to_string(), text.into_bytes());
        }
        if let Some(text) = self.occupancy() {
            files.insert(OCCUPANCY_FILE.to_string(), text.into_bytes());
        }
        files
    }
}

/// Likely error of a dispatch that was simulated in part, percent.
fn apart_of(dispatch: &Dispatch) -> Option<Apart> {
    let (shared, followed) = (dispatch.shared, dispatch.followed);
    let error = shared.map_or(0.0, |it| it.time_error) + followed.map_or(0.0, |it| it.time_error);
    // Counts are extrapolated as the time is.
    let counts = shared.map_or(0.0, |it| it.count_error) + followed.map_or(0.0, |it| it.time_error);
    (shared.is_some() || followed.is_some()).then_some(Apart { time: 100.0 * error, counts: 100.0 * counts })
}

/// Time of a dispatch as written, in nanoseconds.
pub(super) fn length(dispatch: &Dispatch) -> Option<i64> {
    Some(whole(dispatch.time.as_ref()?.nanoseconds) as i64)
}

/// Times are written in whole nanoseconds, and none is zero.
fn whole(nanoseconds: f64) -> u64 {
    nanoseconds.round().max(1.0) as u64
}
