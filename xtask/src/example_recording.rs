//! `cargo xtask example-recording`: writes `examples/heat3d`, a recording made from a description.
//!
//! Nothing here was measured. Four kernels of a heat equation solver are described by what one wave does, how
//! well the caches serve it and how long a dispatch takes; every counter follows from that by the relations
//! that real recordings obey, so that the tables of `analyze` are full and agree with each other.

mod description;

use anyhow::{Context, Result, bail};
use description::{HEAT3D, Kernel};
use std::collections::BTreeMap;
use std::path::Path;
use workload::{Counter, Counters, Dispatches, Generation, Machine, Values, Workload};

const CLOCK_GHZ: f64 = 1.7;
const CHANNELS: u32 = 32;
const SHADER_ENGINES: f64 = 8.0;
const CUS: f64 = 104.0;

/// A level counter, its sum, and the counters read in its run.
type Level = (&'static str, f64, Vec<(&'static str, f64)>);

/// One dispatch: the kernel, and how much longer than at best it took.
struct Run<'a> {
    kernel: &'a Kernel,
    slower: f64,
}

impl Run<'_> {
    fn waves(&self) -> f64 {
        self.kernel.items / 64.0
    }

    fn nanoseconds(&self) -> f64 {
        (self.kernel.nanoseconds * self.slower / 10.0).round() * 10.0
    }

    /// GPU cycles from start to end.
    fn cycles(&self) -> f64 {
        (self.nanoseconds() * CLOCK_GHZ).round()
    }

    /// The counters of the main run; `_sum` names are sums over all instances of a block.
    fn counters(&self) -> Vec<(&'static str, f64)> {
        let k = self.kernel;
        let (waves, cycles) = (self.waves(), self.cycles());
        let (loads, stores) = (waves * k.loads, waves * k.stores);
        let vector_memory = loads + stores;
        let valu = waves * (k.add_f64 + k.mul_f64 + k.fma_f64 + k.int32);
        let f64s = waves * (k.add_f64 + k.mul_f64 + k.fma_f64);
        let (salu, smem, branches, lds) =
            (waves * k.salu, waves * k.smem, waves * k.branches, waves * k.lds_accesses);
        let instructions = valu + salu + smem + branches + vector_memory + lds + waves;
        // The packed side of a strided copy is contiguous.
        let store_lines = k.lines.min(8.0);
        let l1_accesses = (loads * k.lines + stores * store_lines) * 2.0;
        let l1_reads = loads * k.lines * (1.0 - k.l1_hits);
        let writes = stores * store_lines;
        let instruction_lines = 512.0;
        let l2_reads = l1_reads + instruction_lines;
        let read_misses = l1_reads * (1.0 - k.l2_hits) + instruction_lines;
        let l2_hits = (l2_reads - read_misses) + writes * 0.5;
        let l2_misses = read_misses + writes * 0.5;
        let written_back = writes * 0.97;
        let conflict_cycles = lds * k.conflicts;
        let lds_cycles = lds * 4.0 + conflict_cycles;
        let wave_cycles = k.resident * cycles;
        let busy_cu = (k.resident / 8.0).min(CUS) / CUS * 0.96 * cycles * CUS;
        let issue = instructions;
        let mut list = vec![
            ("GRBM_COUNT", cycles),
            ("GRBM_GUI_ACTIVE", cycles),
            ("GRBM_SPI_BUSY", cycles * 0.97),
            ("SQ_CYCLES", cycles * SHADER_ENGINES),
            ("SQ_BUSY_CYCLES", cycles * SHADER_ENGINES * 0.94),
            ("SQ_BUSY_CU_CYCLES", busy_cu),
            ("SQ_WAVES", waves),
            ("SQ_WAVES_EQ_64", waves),
            ("SQ_ITEMS", k.items),
            ("SQ_WAVE_CYCLES", wave_cycles / 4.0),
            ("SQ_WAIT_ANY", wave_cycles / 4.0 - issue * 1.6),
            ("SQ_WAIT_INST_ANY", issue * 0.6),
            ("SQ_ACTIVE_INST_ANY", issue),
            ("SQ_INSTS", instructions),
            ("SQ_INSTS_VALU", valu),
            ("SQ_INSTS_VALU_ADD_F64", waves * k.add_f64),
            ("SQ_INSTS_VALU_MUL_F64", waves * k.mul_f64),
            ("SQ_INSTS_VALU_FMA_F64", waves * k.fma_f64),
            ("SQ_INSTS_VALU_INT32", waves * k.int32),
            ("SQ_INSTS_SALU", salu),
            ("SQ_INSTS_SMEM", smem),
            ("SQ_INSTS_SMEM_NORM", smem * 2.0),
            ("SQ_INSTS_BRANCH", branches),
            ("SQ_INSTS_SENDMSG", waves),
            ("SQ_INSTS_VMEM", vector_memory),
            ("SQ_INSTS_VMEM_RD", loads),
            ("SQ_INSTS_VMEM_WR", stores),
            ("SQ_INSTS_FLAT", vector_memory),
            ("SQ_INSTS_LDS", lds),
            ("SQ_ACTIVE_INST_VALU", valu + f64s),
            ("SQ_ACTIVE_INST_SCA", salu + smem),
            ("SQ_ACTIVE_INST_MISC", branches + waves),
            ("SQ_ACTIVE_INST_FLAT", vector_memory),
            ("SQ_ACTIVE_INST_LDS", lds),
            ("SQ_INST_CYCLES_SALU", salu),
            ("SQ_INST_CYCLES_SMEM", smem),
            ("SQ_INST_CYCLES_VMEM_RD", loads),
            ("SQ_INST_CYCLES_VMEM_WR", stores),
            ("SQ_THREAD_CYCLES_VALU", (valu + f64s) * k.lanes),
            ("SQ_IFETCH", (instructions / 6.0).round()),
            ("SQ_LDS_IDX_ACTIVE", lds_cycles),
            ("SQ_LDS_BANK_CONFLICT", conflict_cycles),
            ("SQC_DCACHE_REQ", smem),
            ("SQC_DCACHE_INPUT_VALID_READYB", smem * 2.6),
            ("SQC_DCACHE_REQ_READ_2", smem),
            ("SQC_DCACHE_HITS", (smem * 0.98).round()),
            ("SQC_DCACHE_MISSES", 56.0),
            ("SQC_DCACHE_MISSES_DUPLICATE", smem - (smem * 0.98).round() - 56.0),
            ("SQC_TC_REQ", instruction_lines),
            ("SQC_TC_INST_REQ", instruction_lines - 56.0),
            ("SQC_TC_DATA_READ_REQ", 56.0),
            ("SQC_ICACHE_REQ", (instructions / 6.0).round()),
            ("SQC_ICACHE_HITS", (instructions / 6.0).round() - instruction_lines),
            ("SQC_ICACHE_MISSES", instruction_lines),
            ("TA_TA_BUSY_sum", cycles * CUS * 0.45 * (k.resident / 3328.0)),
            ("TA_TOTAL_WAVEFRONTS_sum", vector_memory),
            ("TA_FLAT_WAVEFRONTS_sum", vector_memory),
            ("TA_FLAT_READ_WAVEFRONTS_sum", loads),
            ("TA_FLAT_WRITE_WAVEFRONTS_sum", stores),
            ("TA_ADDR_STALLED_BY_TC_CYCLES_sum", cycles * CUS * 0.12),
            ("TA_DATA_STALLED_BY_TC_CYCLES_sum", cycles * CUS * 0.07),
            ("TD_TD_BUSY_sum", cycles * CUS * 0.6 * (k.resident / 3328.0)),
            ("TD_TC_STALL_sum", cycles * CUS * 0.48 * (k.resident / 3328.0)),
            ("TD_LOAD_WAVEFRONT_sum", loads * 2.0),
            ("TD_STORE_WAVEFRONT_sum", stores),
            ("TD_SPI_STALL_sum", 200.0),
            ("TCP_GATE_EN1_sum", cycles * CUS * 0.92),
            ("TCP_GATE_EN2_sum", cycles * CUS * 0.7),
            ("TCP_TOTAL_ACCESSES_sum", vector_memory * 64.0),
            ("TCP_TOTAL_READ_sum", loads * 64.0),
            ("TCP_TOTAL_WRITE_sum", stores * 64.0),
            ("TCP_TOTAL_CACHE_ACCESSES_sum", l1_accesses),
            ("TCP_TA_TCP_STATE_READ_sum", vector_memory),
            ("TCP_TCC_READ_REQ_sum", l1_reads),
            ("TCP_TCC_WRITE_REQ_sum", writes),
            ("TCP_TCC_RW_READ_REQ_sum", l1_reads),
            ("TCP_TCC_RW_WRITE_REQ_sum", writes),
            ("TCP_TCP_LATENCY_sum", (loads + stores) * k.latency * 1.1),
            ("TCP_TCC_READ_REQ_LATENCY_sum", l1_reads * k.latency),
            ("TCP_TCC_WRITE_REQ_LATENCY_sum", writes * k.latency * 0.6),
            ("TCP_PENDING_STALL_CYCLES_sum", cycles * CUS * 0.35),
            ("TCP_TCR_TCP_STALL_CYCLES_sum", cycles * CUS * 0.06),
            ("TCP_TD_TCP_STALL_CYCLES_sum", cycles * CUS * 0.01),
            ("TCP_UTCL1_REQUEST_sum", l1_accesses),
            ("TCP_UTCL1_TRANSLATION_HIT_sum", l1_accesses * 0.994),
            ("TCP_UTCL1_TRANSLATION_MISS_sum", l1_accesses * 0.006),
            ("TCC_CYCLE_sum", cycles * f64::from(CHANNELS)),
            ("TCC_BUSY_sum", cycles * f64::from(CHANNELS) * 0.8),
            ("TCC_REQ_sum", l2_reads + writes),
            ("TCC_READ_sum", l2_reads),
            ("TCC_WRITE_sum", writes),
            ("TCC_RW_REQ_sum", l2_reads + writes - instruction_lines),
            ("TCC_NC_REQ_sum", instruction_lines),
            ("TCC_HIT_sum", l2_hits),
            ("TCC_MISS_sum", l2_misses),
            ("TCC_WRITEBACK_sum", written_back),
            ("TCC_NORMAL_WRITEBACK_sum", written_back),
            ("TCC_NORMAL_EVICT_sum", written_back),
            ("TCC_TAG_STALL_sum", cycles * 2.0),
            ("TCC_EA_RDREQ_sum", read_misses),
            ("TCC_EA_RDREQ_DRAM_sum", read_misses),
            ("TCC_EA_RDREQ_LEVEL_sum", read_misses * k.latency * 0.85),
            ("TCC_EA_WRREQ_sum", written_back),
            ("TCC_EA_WRREQ_64B_sum", written_back),
            ("TCC_EA_WRREQ_DRAM_sum", written_back),
            ("TCC_EA_WRREQ_LEVEL_sum", written_back * k.latency * 0.7),
            ("TCC_EA_WRREQ_STALL_sum", cycles * 0.6),
            ("TCC_TOO_MANY_EA_WRREQS_STALL_sum", cycles * 0.1),
            ("SPI_CSN_WINDOW_VALID", cycles * SHADER_ENGINES),
            ("SPI_CSN_BUSY", cycles * SHADER_ENGINES * 0.94),
            ("SPI_CSN_NUM_THREADGROUPS", k.items / k.workgroup),
            ("SPI_CSN_WAVE", waves),
            ("SPI_VWC_CSC_WR", waves),
            ("SPI_SWC_CSC_WR", waves * 2.0),
            ("SPI_RA_REQ_NO_ALLOC", cycles * 0.7),
            ("SPI_RA_REQ_NO_ALLOC_CSN", cycles * 0.7),
            ("SPI_RA_RES_STALL_CSN", cycles * 0.5),
            ("SPI_RA_WAVE_SIMD_FULL_CSN", cycles * 4.0 * (k.resident / 3328.0)),
            ("CPC_CPC_STAT_BUSY", cycles),
            ("CPC_CPC_STAT_STALL", cycles * 0.2),
            ("CPC_CPC_TCIU_BUSY", 300.0),
            ("CPC_CPC_TCIU_IDLE", cycles - 300.0),
            ("CPC_CPC_UTCL2IU_BUSY", 2800.0),
            ("CPC_CPC_UTCL2IU_IDLE", cycles - 2800.0),
            ("CPC_ME1_BUSY_FOR_PACKET_DECODE", 13_000.0),
            ("CPC_ME1_DC0_SPI_BUSY", cycles * 0.6),
            ("CPC_UTCL1_STALL_ON_TRANSLATION", 2400.0),
            ("CPF_CPF_STAT_BUSY", cycles),
            ("CPF_CPF_TCIU_BUSY", 2000.0),
            ("CPF_CPF_TCIU_IDLE", cycles - 2000.0),
        ];
        list.extend(HEAT3D.never.iter().map(|name| (name.as_str(), 0.0)));
        list
    }

    /// Levels: number in flight, summed over the cycles of the run that counted it, and the counters read in
    /// that run.
    fn levels(&self) -> Vec<Level> {
        let k = self.kernel;
        let (waves, cycles) = (self.waves(), self.cycles());
        let active = ("GRBM_GUI_ACTIVE", cycles);
        let vector = waves * (k.loads + k.stores);
        let fetches = (self.counters().iter().find(|c| c.0 == "SQ_IFETCH")).map_or(0.0, |c| c.1);
        vec![
            ("SQ_LEVEL_WAVES", k.resident * cycles, vec![active, ("SQ_WAVES", waves)]),
            ("SQ_INST_LEVEL_VMEM", vector * k.latency * 1.9, vec![("SQ_INSTS_VMEM", vector)]),
            ("SQ_INST_LEVEL_SMEM", waves * k.smem * 180.0, vec![("SQ_INSTS_SMEM", waves * k.smem)]),
            (
                "SQ_INST_LEVEL_LDS",
                waves * k.lds_accesses * (96.0 + 4.0 * k.conflicts),
                vec![("SQ_INSTS_LDS", waves * k.lds_accesses)],
            ),
            ("SQ_IFETCH_LEVEL", fetches * 19.0, vec![active, ("SQ_IFETCH", fetches)]),
        ]
    }
}

/// `value` of each run.
fn column(runs: &[Run<'_>], value: impl Fn(&Run<'_>) -> f64) -> Values {
    let mut values = Values::new();
    runs.iter().for_each(|run| values.push(Some(value(run).round()), runs.len()));
    values
}

/// The launches, one after the other; `order` has the kernel of each.
fn dispatches(runs: &[Run<'_>], order: &[usize]) -> Dispatches {
    let column = |value: &dyn Fn(&Run<'_>) -> f64| column(runs, value);
    let mut dispatches = Dispatches {
        id: (0..runs.len() as u64).collect(),
        kernel: order.iter().map(|kernel| *kernel as u32).collect(),
        gpu: vec![0; runs.len()],
        grid: column(&|run| run.kernel.items),
        workgroup: column(&|run| run.kernel.workgroup),
        lds: column(&|run| run.kernel.lds),
        scratch: column(&|_| 0.0),
        arch_vgpr: column(&|run| run.kernel.vgprs),
        accum_vgpr: column(&|_| 0.0),
        sgpr: column(&|run| run.kernel.sgprs),
        ..Dispatches::default()
    };
    let mut now = 1_000_000;
    for run in runs {
        dispatches.start.push(Some(now));
        now += run.nanoseconds() as i64;
        dispatches.end.push(Some(now));
        now += 9_000;
    }
    dispatches
}

/// The counters of all runs: sums, channels of the L2, and levels with the counters of their runs.
fn recorded(runs: &[Run<'_>]) -> Counters {
    let mut counters = Counters::default();
    let mut add = |name: &str, instance, run: Option<&str>, values| {
        counters.add(Counter {
            name: name.to_owned(),
            instance,
            run: run.map(str::to_owned),
            pass: None,
            source: 0,
            values,
        });
    };
    let table: Vec<BTreeMap<&str, f64>> =
        runs.iter().map(|run| run.counters().into_iter().collect()).collect();
    let names: Vec<&str> = runs[0].counters().into_iter().map(|(name, _)| name).collect();
    let values = |name: &str, share: f64| {
        let mut values = Values::new();
        table.iter().for_each(|row| values.push(Some((row[name] * share).round()), table.len()));
        values
    };
    for name in names {
        add(name, None, None, values(name, 1.0));
        let Some(stem) =
            name.strip_suffix("_sum").filter(|stem| HEAT3D.per_channel.iter().any(|it| it == stem))
        else {
            continue;
        };
        for channel in 0..CHANNELS {
            // Addresses spread over the channels evenly but for a few percent.
            let tilt = 1.0 + (f64::from((channel * 11) % CHANNELS) - 15.5) / 500.0;
            let share = if stem == "TCC_CYCLE" { 1.0 } else { tilt } / f64::from(CHANNELS);
            add(stem, Some(channel), None, values(name, share));
        }
    }
    for (level, _, read) in runs[0].levels() {
        let pick = |run: &Run<'_>| run.levels().into_iter().find(|l| l.0 == level).expect("same list");
        add(&format!("{level}_ACCUM"), None, None, column(runs, |run| pick(run).1));
        for (at, (name, _)) in read.iter().enumerate() {
            add(name, None, Some(level), column(runs, |run| pick(run).2[at].1));
        }
    }
    counters
}

/// The recording: the solver's steps in the order they run.
fn recording() -> Workload {
    let mut order: Vec<usize> = vec![0];
    for step in 0..HEAT3D.kernels[1].dispatches {
        order.push(1);
        if step % 4 == 3 {
            order.extend([3, 2]);
        }
    }
    let runs: Vec<Run<'_>> = order
        .iter()
        .enumerate()
        // Up to 3 % slower than at best, the same in every recording.
        .map(|(i, kernel)| Run {
            kernel: &HEAT3D.kernels[*kernel],
            slower: 1.0 + ((i * 7) % 10) as f64 / 300.0,
        })
        .collect();
    Workload {
        machine: Machine { facts: HEAT3D.machine.clone() },
        kernels: HEAT3D.kernels.iter().map(|kernel| kernel.name.clone()).collect(),
        dispatches: dispatches(&runs, &order),
        counters: recorded(&runs),
        sources: vec!["pmc_perf.csv".to_owned()],
        ..Workload::empty(Generation::Wide)
    }
}

pub fn run(arguments: &[String]) -> Result<()> {
    if !arguments.is_empty() {
        bail!("`example-recording` takes no arguments");
    }
    let folder = folder();
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in workload::write(&recording()) {
        let path = folder.join(name);
        std::fs::write(&path, bytes).with_context(|| path.display().to_string())?;
        println!("wrote {}", path.display());
    }
    Ok(())
}

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("examples/heat3d")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_committed_recording_is_what_the_description_gives() {
        for (name, bytes) in workload::write(&recording()) {
            let there = std::fs::read(folder().join(&name)).unwrap_or_default();
            assert!(there == bytes, "examples/heat3d/{name} differs: run `cargo xtask example-recording`");
        }
    }

    #[test]
    fn relations_of_real_recordings_hold() {
        for kernel in &HEAT3D.kernels {
            let run = Run { kernel, slower: 1.0 };
            let value: BTreeMap<&str, f64> = run.counters().into_iter().collect();
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0);
            assert!(
                close(value["TCC_HIT_sum"] + value["TCC_MISS_sum"], value["TCC_REQ_sum"]),
                "{}",
                kernel.name
            );
            assert!(close(value["TCC_READ_sum"] + value["TCC_WRITE_sum"], value["TCC_REQ_sum"]));
            assert!(value["SQ_WAIT_ANY"] > 0.0 && value["SQC_DCACHE_MISSES_DUPLICATE"] >= 0.0);
            // Requests of 64 bytes; no more of them than a real memory of 1638.4 GB/s takes.
            let bytes = (value["TCC_EA_RDREQ_sum"] + value["TCC_EA_WRREQ_sum"]) * 64.0;
            assert!(bytes / run.nanoseconds() < 1400.0, "{}: {}", kernel.name, bytes / run.nanoseconds());
            assert!(kernel.resident <= CUS * 32.0);
            assert!(value.iter().all(|(_, v)| v.is_finite() && *v >= 0.0), "{value:?}");
        }
    }
}
