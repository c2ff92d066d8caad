//! The recording as the files of a folder.
//!
//! Files that profilers also write have the profilers' format; data that only an emulator knows has separate
//! files.

use super::{Dispatch, Overview, Recorder};
use crate::cache_state::CacheState;
use crate::marks;
use mem::MOST_PER_GROUP;
use std::collections::BTreeMap;
use workload::{Generation, MARKS_FILE, Machine, Marks, Workload};

/// Version of the column names of `sysinfo.csv`.
const SYSINFO_VERSION: &str = "2";

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
        if self.overview.lowest_mhz.is_some() {
            let held = [("matrix_sclk", model.held_matrix_mhz()), ("f64_sclk", model.held_f64_mhz())];
            held.into_iter()
                .filter_map(|(name, mhz)| Some((name, mhz?)))
                .for_each(|(name, mhz)| fact(name, mhz.to_string()));
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

    /// Trust in each quantity.
    fn marks(&self) -> Marks {
        let target = self.model.target().name;
        let Overview { known, atomics, times, apart, .. } = &self.overview;
        let some = (self.most_workgroups > 0, *atomics);
        marks::marks(target, known.iter().copied(), some, *times, *apart)
    }

    /// Notes for the user about dispatches that were not simulated completely.
    pub fn notes(&self) -> Vec<String> {
        let it = &self.overview;
        let cut = it.cut.which().map(|which| {
            format!(
                "{which}: no caches and no times: what one workgroup did takes more than the {} MiB that are kept of it in memory, and \
                 the temporary folder has no room for the rest (`TMPDIR` names another); counts that depend on neither are there",
                MOST_PER_GROUP >> 20
            )
        });
        let hurried = it.hurried.which().map(|which| {
            format!(
                "{which}: workgroups did not all run in the order in which they find places, for want of memory; take times with care"
            )
        });
        let no_time = it
            .untimed
            .which()
            .zip(it.no_time.as_deref())
            .map(|(which, reason)| format!("{which}: no caches and no times: {reason}"));
        let more = no_time.into_iter().chain(cut).chain(hurried);
        self.shared().into_iter().chain(self.followed()).chain(self.lowered()).chain(more).collect()
    }

    /// The assumed clocks under matrix and f64 work, in words; `None` where they lower no clock by a fiftieth.
    fn lowered(&self) -> Option<String> {
        let running = f64::from(self.model.running_mhz());
        let (dispatch, mhz) = self.overview.lowest_mhz.as_ref().filter(|it| it.1 <= 0.98 * running)?;
        let matrix = self.model.held_matrix_mhz().map(|held| format!("{held} while matrix units work"));
        let f64 = self.model.held_f64_mhz().map(|held| format!("{held} in f64 work"));
        let held: Vec<String> = matrix.into_iter().chain(f64).collect();
        Some(format!(
            "dispatch {dispatch}: its time is at {mhz:.0} MHz in the mean: {}, as in long runs, and {running:.0} else; \
             `--gpu {}@{running:.0}` gives the time of a single launch on an idle GPU",
            held.join(", "),
            self.model.key()
        ))
    }

    /// Workgroups followed, in words; `None` if all were.
    fn followed(&self) -> Option<String> {
        let (dispatch, it, others) = self.overview.followed.as_ref()?;
        let more = match others {
            0 => String::new(),
            more => format!("; {more} other dispatches likewise"),
        };
        Some(format!(
            "dispatch {dispatch}: caches and times are from the first {} of {} workgroups, after which they repeat each other; \
             expected error of the time from that {:.1} %{more}; `--clock-detail full` follows all",
            it.followed,
            it.workgroups,
            100.0 * it.time_error
        ))
    }

    /// Error estimate, in words, for dispatches simulated on representative XCDs; `None` if all XCDs were
    /// simulated.
    fn shared(&self) -> Option<String> {
        let (first, count, errors) = self.overview.shared?;
        let which = match count {
            1 if self.overview.count == 1 => String::new(),
            count => format!(" of {count} dispatches"),
        };
        let [time, counts] = errors.map(|error| 100.0 * error);
        Some(format!(
            "caches and times{which} are from {} of {} XCDs, which differ by {time:.1} % in time and {counts:.1} % in counts at most, \
             for which errors are stated larger; `--clock-detail full` follows all",
            first.simulated, first.xcds,
        ))
    }

    /// The executed code objects, also for the folder. Names are hashes of the contents, so an existing file
    /// need not be written again.
    pub fn code_objects(&self) -> impl Iterator<Item = (String, &[u8])> {
        self.code.values().map(|code| (code.file(), code.bytes()))
    }

    /// Files of the folder without lines for dispatches, by name.
    pub fn about(&self, provenance: &Provenance) -> BTreeMap<String, Vec<u8>> {
        let settings = [
            ("name", provenance.name.clone()),
            ("mode", "profile".to_owned()),
            ("emulated_by", provenance.emulator.clone()),
        ];
        let mut files = workload::write_beside(&Workload {
            machine: self.machine(provenance),
            settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
            ..Workload::empty(Generation::Wide)
        });
        files.insert(MARKS_FILE.to_string(), self.marks().write().into_bytes());
        files
    }

    /// All files of the folder but the code objects, by name, with the dispatches that are kept.
    pub fn files(&self, provenance: &Provenance) -> BTreeMap<String, Vec<u8>> {
        let mut files = self.about(provenance);
        let columns = self.current_columns();
        let mut lines = self.lines(&columns);
        for (name, header) in columns.headers() {
            let lines = lines.remove(name).unwrap_or_default();
            files.insert(name.clone(), [header.as_bytes(), lines.as_bytes()].concat());
        }
        files
    }
}

/// Time of a dispatch as written, in nanoseconds.
pub(super) fn length(dispatch: &Dispatch) -> Option<i64> {
    Some(whole(dispatch.time.as_ref()?.nanoseconds) as i64)
}

/// Times are written in whole nanoseconds, and none is zero.
pub(super) fn whole(nanoseconds: f64) -> u64 {
    nanoseconds.round().max(1.0) as u64
}
