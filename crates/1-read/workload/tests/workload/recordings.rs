//! Real recordings of each generation, read from `../shared`; skipped loudly without it.

use rockhound_workload::{Error, Generation, Options, Workload, read, write};
use std::collections::BTreeMap;
use testkit::{files, shared};

fn load(what: &str) -> Option<Workload> {
    shared(what).map(|folder| read(&files(&folder), &Options::default()).unwrap())
}

fn problems(w: &Workload) -> Vec<String> {
    w.problems.iter().map(ToString::to_string).collect()
}

fn value(w: &Workload, name: &str, row: usize) -> Option<f64> {
    w.counters.get(name).and_then(|c| c.values.get(row))
}

#[test]
fn wide_folder_of_mi200() {
    let Some(w) = load("workloads/vcopy/MI200") else { return };
    assert_eq!(w.generation, Generation::Wide);
    assert_eq!(problems(&w), Vec::<String>::new());
    assert_eq!(w.kernels, ["vecCopy(double*, double*, double*, int, int) [clone .kd]"]);
    assert_eq!(w.dispatches.id, [0, 1, 2]);
    assert_eq!(w.dispatches.gpu, [2, 2, 2]);
    assert_eq!(w.dispatches.grid.get(0), Some(1_048_576.0));
    assert_eq!(w.dispatches.duration(0), Some(20_480.0));
    assert_eq!(value(&w, "SQ_BUSY_CU_CYCLES", 1), Some(2_808_219.0));
    assert_eq!(value(&w, "TCC_HIT_sum", 2), Some(70_029.0));
    assert_eq!(w.counters.instances("TCC_HIT").len(), 32);
    assert_eq!(value(&w, "SQ_LEVEL_WAVES_ACCUM", 0), Some(44_799_316.0));
    let own = w.counters.get_in("SQ_LEVEL_WAVES", "GRBM_GUI_ACTIVE").unwrap();
    assert_eq!(own.values.get(0), Some(27_964.0));
    assert_eq!(w.machine.target(), Some("gfx90a"));
    assert_eq!(w.machine.number("cu_per_gpu"), Some(104.0));
    assert_eq!(w.machine.text("compute_partition"), None);
    assert_eq!(w.ceilings.len(), 4);
    assert_eq!(w.ceilings[0].values["HBMBw"], 1388.9302);
    let passes: std::collections::BTreeSet<_> =
        w.counters.iter().filter(|c| c.run.is_none()).filter_map(|c| c.pass).collect();
    assert_eq!(passes.len(), 19);
    assert!(w.extras.is_empty(), "{:?}", w.extras);
}

#[test]
fn wide_folder_of_mi300x_with_rounded_times() {
    let Some(w) = load("workloads/vcopy/MI300X_A1") else { return };
    testkit::golden("rounded times", &problems(&w).join("\n"));
    assert_eq!(w.dispatches.duration(0), None);
    assert_eq!(w.counters.instances("TCC_HIT").len(), 128);
    // The companion numbers its dispatches from 0, the time stamps from 1: they meet all the same.
    assert_eq!(value(&w, "SQ_LEVEL_WAVES_ACCUM", 0), Some(155_189_876.0));
}

#[test]
fn omniperf_1_folder() {
    let Some(w) = load("workloads/mixbench/mi200") else { return };
    assert_eq!(w.generation, Generation::Omniperf1);
    assert_eq!(problems(&w), Vec::<String>::new());
    assert_eq!(w.dispatches.len(), 167);
    assert_eq!(w.dispatches.grid.get(0), Some(33_554_432.0));
    assert_eq!(w.dispatches.arch_vgpr.get(0), Some(4.0));
    assert_eq!(w.dispatches.duration(0), Some(237_441.0));
    assert_eq!(w.machine.target(), Some("gfx90a"));
    assert_eq!(w.machine.number("max_waves_per_cu"), Some(32.0));
    assert_eq!(w.machine.number("max_sclk"), Some(1700.0));
}

#[test]
fn long_folder_of_mi300x() {
    let Some(w) = load("workloads/vcopy/MI300X_A1_rocpd") else { return };
    assert_eq!(w.generation, Generation::Long);
    assert_eq!(problems(&w), Vec::<String>::new());
    assert_eq!(w.dispatches.id, [1, 2, 3]);
    assert_eq!(w.counters.len(), 2009);
    assert!(w.counters.iter().all(|c| !c.values.iter().any(|v| v.is_none())));
    // The median over what was read in twelve runs; time stamps beyond 2^53 keep their last digit.
    assert_eq!(w.dispatches.start[0], Some(13_386_742_234_691_895));
    let times: Vec<_> = (0..3).map(|i| w.dispatches.duration(i)).collect();
    assert_eq!(times, [Some(8613.0), Some(6730.0), Some(6730.0)]);
    assert_eq!(w.settings["name"], "vcopy");
    assert_eq!(w.settings["remaining"], "-- sample/vcopy -n 1048576 -b 256 -i 3");
    let passes: std::collections::BTreeSet<_> = w.counters.iter().filter_map(|c| c.pass).collect();
    assert_eq!(passes.len(), 12);
    // The level of waves was read in a pass without GRBM_GUI_ACTIVE, which has its own time.
    let pass = w.counters.get("SQ_LEVEL_WAVES_ACCUM").unwrap().pass.unwrap();
    assert_eq!(w.counters.time_in_pass(pass).unwrap().get(1), Some(6_650.0));
    assert!(w.counters.get_in_pass(pass, "GRBM_GUI_ACTIVE").is_none());
    assert_eq!(w.counters.timed_passes().count(), 12);
}

#[test]
fn rocprofv3_files() {
    let Some(dir) = shared("recordings/rocprofv3") else { return };
    let file = |n: &str| std::fs::read(dir.join(n)).unwrap();
    let mut folder = BTreeMap::new();
    folder.insert("out/42_counter_collection.csv".to_string(), file("counter_collection.csv"));
    folder.insert("out/42_kernel_trace.csv".to_string(), file("kernel_trace.csv"));
    folder.insert(
        "out/42_agent_info.csv".to_string(),
        b"\"Agent_Type\",\"Cu_Count\",\"Simd_Per_Cu\",\"Max_Waves_Per_Simd\",\"Name\"\n\"CPU\",0,0,0,\"x86\"\n\"GPU\",104,4,8,\"gfx90a\"\n".to_vec(),
    );
    let w = read(&folder, &Options::default()).unwrap();
    assert_eq!(w.generation, Generation::Rocprofv3);
    assert_eq!(problems(&w), Vec::<String>::new());
    assert_eq!(w.dispatches.len(), 4);
    assert_eq!(w.dispatches.gpu, [1, 1, 1, 1]);
    assert_eq!(value(&w, "SQ_WAVES", 2), Some(16_384.0));
    assert_eq!(w.dispatches.duration(0), Some(52_151.0));
    assert_eq!(w.machine.target(), Some("gfx90a"));
    assert_eq!(w.machine.number("max_waves_per_cu"), Some(32.0));
    // The trace alone still gives dispatches.
    folder.remove("out/42_counter_collection.csv");
    let w = read(&folder, &Options::default()).unwrap();
    assert_eq!(w.dispatches.len(), 9);
    assert_eq!(w.dispatches.grid.get(0), Some(1_048_576.0));
    // Without time stamps and agents, as older versions write.
    let mut old = BTreeMap::new();
    old.insert("counter_collection.csv".to_string(), file("kernel_names.csv"));
    let w = read(&old, &Options::default()).unwrap();
    assert_eq!(w.dispatches.len(), 4);
    testkit::golden("no agents and no times", &problems(&w).join("\n"));
}

#[test]
fn what_is_written_reads_back_the_same() {
    for what in ["vcopy/MI200", "vcopy/MI300X_A1_rocpd", "mixbench/mi200", "ipblocks_SQ_TA/MI300X_A1"] {
        let Some(w) = load(&format!("workloads/{what}")) else { return };
        let back = read(&write(&w), &Options::default()).unwrap();
        assert!(back.dispatches == w.dispatches, "{what}: dispatches differ");
        assert_eq!(back.kernels, w.kernels);
        assert_eq!(back.machine, w.machine);
        assert_eq!(back.ceilings, w.ceilings);
        assert_eq!(back.settings, w.settings);
        assert_eq!(back.counters.len(), w.counters.len());
        for c in w.counters.iter() {
            let found = match (&c.run, c.instance) {
                (Some(run), _) => back.counters.get_in(run, &c.name),
                (None, Some(i)) => back.counters.instance(&c.name, i),
                (None, None) => back.counters.get(&c.name),
            };
            let found = found.unwrap_or_else(|| panic!("{what}: {} is gone", c.name));
            assert!(found.values.iter().eq(c.values.iter()), "{what}: {}", c.name);
        }
    }
}

#[test]
fn packed_files_read_the_same() {
    use std::io::Write as _;
    let Some(dir) = shared("workloads/vcopy/MI200") else { return };
    let plain = files(&dir);
    let mut packed = BTreeMap::new();
    for (name, bytes) in &plain {
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(bytes).unwrap();
        packed.insert(format!("{name}.gz"), z.finish().unwrap());
    }
    let w = read(&packed, &Options::default()).unwrap();
    assert_eq!(w, read(&plain, &Options::default()).unwrap());
    // A file may not unpack beyond the bound.
    let error = read(&packed, &Options { max_unpacked: 1000 }).unwrap_err();
    assert!(matches!(error, Error::Gzip { .. }), "{error}");
}

#[test]
fn samples_of_the_program_counter() {
    let cases = [
        ("workloads/newest/f5_ps_and_pmc", Generation::Long, 28),
        ("workloads/newest/f5_ps_csv", Generation::Long, 28),
        ("workloads/newest/f5_ps_only", Generation::Samples, 28),
    ];
    for (folder, generation, total) in cases {
        let Some(w) = load(folder) else { return };
        assert_eq!(w.generation, generation, "{folder}");
        let samples = w.samples.unwrap();
        let kernels = samples.by_kernel(&|_, _| true);
        assert_eq!((kernels.len(), samples.total()), (1, total), "{folder}");
        assert_eq!(kernels[0].kernel.name, "vecCopy(double*, double*, double*, int, int)");
        assert_eq!((kernels[0].total.issued, kernels[0].total.stalls[3]), (5, 20), "{folder}");
    }
    // The figures are from the notes next to the files; an issued sample has no reason.
    for (file, total, issued, stalls) in [
        ("pc_sampling_host_trap.csv", 79, 0, [0; 10]),
        ("pc_sampling_stochastic_debug.csv", 97, 20, [0, 1, 5, 71, 0, 0, 0, 0, 0, 0]),
    ] {
        let Some(path) = shared(&format!("traces/rocprofv3/csv/{file}")) else { return };
        let name = file.replace("_debug", "");
        let w = read(&BTreeMap::from([(name, std::fs::read(path).unwrap())]), &Options::default()).unwrap();
        let kernels = w.samples.unwrap().by_kernel(&|_, _| true);
        assert_eq!((kernels[0].total.samples, kernels[0].total.issued), (total, issued), "{file}");
        assert_eq!(kernels[0].total.stalls, stalls, "{file}");
    }
}
