//! Recordings made here: rocpd databases, rocprof's `results.csv`, and everything that can be wrong with a
//! folder.

use rockhound_workload::{ABSENT, Generation, Options, Workload, read};
use std::collections::BTreeMap;

fn folder(files: &[(&str, &str)]) -> BTreeMap<String, Vec<u8>> {
    files.iter().map(|(n, t)| ((*n).to_string(), t.as_bytes().to_vec())).collect()
}

fn load(files: &[(&str, &str)]) -> Result<Workload, String> {
    read(&folder(files), &Options::default()).map_err(|e| e.to_string())
}

/// Problems apart from those about files this test does not write.
fn problems(w: &Workload) -> Vec<String> {
    w.problems.iter().filter(|it| it.message != ABSENT).map(ToString::to_string).collect()
}

fn database(sql: &str) -> BTreeMap<String, Vec<u8>> {
    let db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch(sql).unwrap();
    let bytes = db.serialize("main").unwrap().to_vec();
    BTreeMap::from([("results.db".to_string(), bytes)])
}

const VIEWS: &str = "
    CREATE TABLE rocpd_info_agent (type TEXT, name TEXT);
    INSERT INTO rocpd_info_agent VALUES ('CPU', 'x86'), ('GPU', 'gfx942');
    CREATE TABLE d (dispatch_id INTEGER, agent_abs_index INTEGER, kernel_name TEXT, start BIGINT, \"end\" BIGINT,
        grid_size_x INTEGER, grid_size_y INTEGER, grid_size_z INTEGER, workgroup_size INTEGER, lds_block_size INTEGER,
        vgpr_count INTEGER, counter_name TEXT, value REAL);
    INSERT INTO d VALUES (1, 4, 'copy', 13386742234691895, 13386742234700548, 64, 2, 1, 64, 0, 8, 'SQ_WAVES', 2),
        (1, 4, 'copy', 13386742234691895, 13386742234700548, 64, 2, 1, 64, 0, 8, 'TCC_HIT[3]', 1.5),
        (2, 4, 'copy', 13386742234800000, 13386742234800010, 64, 2, 1, 64, 0, 8, 'SQ_WAVES', 3);
    CREATE VIEW counters_collection AS SELECT * FROM d;";

#[test]
fn rocpd_database() {
    let w = read(&database(VIEWS), &Options::default()).unwrap();
    assert_eq!(w.generation, Generation::Rocpd);
    assert_eq!(w.kernels, ["copy"]);
    assert_eq!(w.dispatches.len(), 2);
    assert_eq!(w.dispatches.duration(0), Some(8653.0));
    assert_eq!(w.dispatches.grid.get(0), Some(128.0));
    assert_eq!(w.counters.get("SQ_WAVES").unwrap().values.iter().collect::<Vec<_>>(), [Some(2.0), Some(3.0)]);
    assert_eq!(
        w.counters.instance("TCC_HIT", 3).unwrap().values.iter().collect::<Vec<_>>(),
        [Some(1.5), None]
    );
    assert_eq!(w.machine.target(), Some("gfx942"));
    assert_eq!(problems(&w), Vec::<String>::new());
}

#[test]
fn each_pass_keeps_its_times_and_what_counts_time() {
    let row =
        |start: u32, end: u32, counter: &str, value: u32| format!("1,copy,{start},{end},{counter},{value}\n");
    let text = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n"
        .to_string()
        + &row(100, 190, "GRBM_GUI_ACTIVE", 300)
        + &row(100, 190, "SQ_WAVES", 5)
        + &row(500, 600, "GRBM_GUI_ACTIVE", 200)
        + &row(500, 600, "GRBM_GUI_ACTIVE", 220)
        + &row(500, 600, "SQ_WAVES", 7)
        + &row(500, 600, "SQ_LEVEL_WAVES_ACCUM", 800);
    let w = load(&[("pmc_perf.csv", &text)]).unwrap();
    let in_pass = |pass, name: &str| w.counters.get_in_pass(pass, name).and_then(|values| values.get(0));
    assert_eq!(w.counters.timed_passes().collect::<Vec<_>>(), [0, 1]);
    let times = [0, 1].map(|pass| w.counters.time_in_pass(pass).and_then(|times| times.get(0)));
    assert_eq!(times, [Some(90.0), Some(100.0)]);
    assert_eq!(w.counters.get("SQ_LEVEL_WAVES_ACCUM").unwrap().pass, Some(1));
    assert_eq!(in_pass(0, "GRBM_GUI_ACTIVE"), Some(300.0));
    assert_eq!(in_pass(1, "GRBM_GUI_ACTIVE"), Some(420.0));
    // Work does not depend on the pass: the first reading is used for all.
    assert_eq!((in_pass(0, "SQ_WAVES"), in_pass(1, "SQ_WAVES")), (Some(5.0), None));
    assert_eq!(w.dispatches.duration(0), Some(100.0));
}

#[test]
fn databases_that_are_no_recording() {
    for sql in [
        "CREATE TABLE t (x)",
        "CREATE VIEW counters_collection AS SELECT * FROM gone; CREATE TABLE t (x)",
        "CREATE TABLE d (kernel_name TEXT, value REAL); CREATE VIEW counters_collection AS SELECT * FROM d",
    ] {
        let error = read(&database(sql), &Options::default()).unwrap_err().to_string();
        testkit::golden(sql, &error);
    }
    // Cut off anywhere, it is an error or a smaller recording, never a crash.
    let whole = database(VIEWS).remove("results.db").unwrap();
    for n in (16..whole.len()).step_by(511) {
        let _ = read(&BTreeMap::from([("r.db".to_string(), whole[..n].to_vec())]), &Options::default());
    }
}

#[test]
fn rocprof_results_of_several_runs() {
    let header = "\"Index\",\"KernelName\",\"gpu-id\",\"grd\",\"wgr\",\"lds\",\"scr\",\"arch_vgpr\",\"accum_vgpr\",\"sgpr\",\"sig\",\"obj\"";
    let first = format!(
        "{header},SQ_WAVES,DispatchNs,BeginNs,EndNs,CompleteNs\n0,\"a, b\",0,128,64,0,0,8,4,16,0x0,0x1,2,1,10,30,40\n1,\"c\",0,64,64,0,0,8,4,16,0x0,0x1,1,1,50,60,70\n"
    );
    let second = format!(
        "{header},SQ_WAVES,SQ_INSTS,DispatchNs,BeginNs,EndNs,CompleteNs\n5,\"c\",0,64,64,0,0,8,4,16,0x0,0x1,9,100,1,10,31,40\n6,\"a, b\",0,128,64,0,0,8,4,16,0x0,0x1,9,200,1,50,60,70\n"
    );
    let w = load(&[("results_0.csv", &first), ("results_1.csv", &second)]).unwrap();
    assert_eq!(w.generation, Generation::Rocprof1);
    assert_eq!(w.kernels, ["a, b", "c"]);
    assert_eq!(w.dispatches.duration(0), Some(20.0));
    assert_eq!(
        w.counters.get("SQ_INSTS").unwrap().values.iter().collect::<Vec<_>>(),
        [Some(200.0), Some(100.0)]
    );
    assert_eq!(w.counters.get("SQ_WAVES").unwrap().values.get(0), Some(2.0));
    testkit::golden("another order", &problems(&w).join("\n"));
}

#[test]
fn folders_from_which_nothing_can_be_had() {
    for files in [
        &[][..],
        &[("notes.txt", "x"), ("sysinfo.csv", "a\n1\n")],
        &[("A/k.ttgir", "module {}"), ("A/k.json", "{}")],
        &[("pmc_perf.csv", "")],
        &[("pmc_perf.csv", "Dispatch_ID,Kernel_Name,SQ_WAVES\n")],
        &[("pmc_perf.csv", "Dispatch_ID,Kernel_Name,Counter_Name,Counter_Value\n")],
        &[("pmc_perf.csv", "Dispatch_ID,SQ_WAVES\n0,1\n")],
        &[("x_counter_collection.csv", "\"Kernel_Name\",\"Counter_Name\"\n")],
    ] {
        testkit::golden(&format!("folder {files:?}"), &load(files).unwrap_err());
    }
}

#[test]
fn defects_are_named_once_and_cost_only_what_stands_on_them() {
    let head =
        "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,SQ_WAVES";
    // rows, waves that remain
    for (rows, waves) in [
        ("0,0,k,64,64,5,9,1\r\n1,0,k,64,64,10,12,2\r\n", [Some(1.0), Some(2.0)]),
        ("0,0,k,64,64,5,9,1\n1,0,k,64\n2,0,k,64,64,5,9,3\n", [Some(1.0), Some(3.0)]),
        ("0,0,k,64,64,5,9,many\n1,0,k,64,64,5,9,2\n", [None, Some(2.0)]),
        ("7,0,k,64,64,5,9,1\n7,0,k,64,64,5,9,1\n", [Some(1.0), Some(1.0)]),
        ("0,0,k,64,64,5,9,1\n1,3,k,64,64,5,9,1\n", [Some(1.0), Some(1.0)]),
        ("0,0,k,64,64,5,5,1\n1,0,k,64,64,,9,1\n", [Some(1.0), Some(1.0)]),
    ] {
        let w = load(&[("pmc_perf.csv", &format!("\u{feff}{head}\n{rows}"))]).unwrap();
        testkit::golden(&format!("rows {rows:?}"), &problems(&w).join("\n"));
        assert_eq!(w.counters.get("SQ_WAVES").unwrap().values.iter().collect::<Vec<_>>(), waves, "{rows}");
    }
}

#[test]
fn companions_that_do_not_fit_are_counted() {
    let main = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_IFETCH\n0,a,1,2,10\n1,a,3,4,20\n2,b,5,6,30\n";
    let level = "Dispatch_ID,Kernel_Name,SQ_IFETCH,SQ_ACCUM_PREV_HIRES\n9,b,33,300\n10,a,11,100\n11,c,1,1\n";
    let w = load(&[("pmc_perf.csv", main), ("SQ_IFETCH_LEVEL.csv", level), ("SQ_LEVEL_WAVES.csv", "x\n")])
        .unwrap();
    let accumulated: Vec<_> = w.counters.get("SQ_IFETCH_LEVEL_ACCUM").unwrap().values.iter().collect();
    assert_eq!(accumulated, [Some(100.0), None, Some(300.0)]);
    let own: Vec<_> = w.counters.get_in("SQ_IFETCH_LEVEL", "SQ_IFETCH").unwrap().values.iter().collect();
    assert_eq!(own, [Some(11.0), None, Some(33.0)]);
    let problems: Vec<String> = w.problems.iter().map(ToString::to_string).collect();
    testkit::golden("companions that do not fit", &problems.join("\n"));
}

#[test]
fn ten_thousand_columns_and_columns_nobody_knows() {
    let mut header = "Dispatch_ID,Kernel_Name,MyRatio,note,Mean(ns)".to_string();
    let mut row = "0,k,0.5,hello,7".to_string();
    for i in 0..10_000 {
        header.push_str(&format!(",SQ_MADE_UP_{i}"));
        row.push_str(&format!(",{i}"));
    }
    let w = load(&[("pmc_perf.csv", &format!("{header}\n{row}\n"))]).unwrap();
    // An unknown column of numbers is a user-defined counter, unless its name is more than a word.
    assert_eq!(w.counters.len(), 10_001);
    assert_eq!(w.counters.get("SQ_MADE_UP_9999").unwrap().values.get(0), Some(9999.0));
    assert_eq!(w.counters.get("MyRatio").unwrap().values.get(0), Some(0.5));
    assert_eq!(w.extras.len(), 1);
    assert_eq!((w.extras[0].name.as_str(), w.extras[0].values.get(0)), ("Mean(ns)", Some(7.0)));
}

#[test]
fn long_rows_join_over_runs_whatever_their_ids() {
    let text = "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n\
        1,0,a,64,64,10,20,SQ_WAVES,1\n2,0,b,64,64,30,40,SQ_WAVES,2\n\
        1,0,b,64,64,110,120,SQ_INSTS,20\n2,0,a,64,64,130,140,SQ_INSTS,10\n1,0,b,64,64,110,120,SQ_WAVES,99\n";
    let w = load(&[("pmc_perf.csv", text)]).unwrap();
    assert_eq!(w.dispatches.len(), 2);
    assert_eq!(
        w.counters.get("SQ_INSTS").unwrap().values.iter().collect::<Vec<_>>(),
        [Some(10.0), Some(20.0)]
    );
    assert_eq!(w.counters.get("SQ_WAVES").unwrap().values.iter().collect::<Vec<_>>(), [Some(1.0), Some(2.0)]);
}

/// A small generator of numbers, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

#[test]
fn damaged_recordings_give_a_workload_or_an_error() {
    let wide = "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT[0],TCC_HIT_sum\n\
        0,0,\"a(int, \"\"b\"\")\",64,1,9,5,7,8.0\n1,0,b,64,10,12,6,1e3,\n2,0,b,64,13,19,6,-1,nan\n";
    let long = "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n\
        1,0,a,64,10,20,SQ_WAVES,1\n2,0,b,64,30,40,SQ_WAVES,2\n1,0,a,64,110,120,TCC_HIT[3],20\n";
    let side = "gpu_arch,cu_per_gpu\ngfx90a,104\n";
    let packed = {
        use std::io::Write as _;
        let mut z = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        z.write_all(wide.as_bytes()).unwrap();
        z.finish().unwrap()
    };
    let db = database(VIEWS).remove("results.db").unwrap();
    let seeds: Vec<(&str, Vec<u8>)> = vec![
        ("pmc_perf.csv", wide.into()),
        ("pmc_perf.csv", long.into()),
        ("pmc_perf.csv.gz", packed),
        ("SQ_IFETCH_LEVEL.csv", wide.into()),
        ("timestamps.csv", wide.into()),
        ("sysinfo.csv", side.into()),
        ("roofline.csv", "device,HBMBw\n0,1388.5\n".into()),
        ("profiling_config.yaml", "name: x\nlist:\n- a\n- 'b'\n".into()),
        ("1_counter_collection.csv", long.into()),
        ("1_kernel_trace.csv", wide.into()),
        ("results.csv", wide.into()),
        ("out.db", db),
    ];
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut read_well, mut refused) = (0, 0);
    for round in 0..400 {
        for (name, seed) in &seeds {
            let mut bytes = seed.clone();
            for _ in 0..1 + numbers.below(4) {
                let at = numbers.below(bytes.len());
                match numbers.below(5) {
                    0 => bytes.truncate(at),
                    1 if !bytes.is_empty() => bytes[at] = numbers.below(256) as u8,
                    2 if !bytes.is_empty() => bytes[at] = b",\"\n\r.[]-0"[numbers.below(9)],
                    3 => drop(bytes.splice(at..at, *b"99999999999999999999")),
                    _ => {
                        let end = (at + numbers.below(40)).min(bytes.len());
                        let piece = bytes[at..end].to_vec();
                        let to = numbers.below(bytes.len());
                        drop(bytes.splice(to..to, piece));
                    }
                }
            }
            let mut files = BTreeMap::from([((*name).to_string(), bytes)]);
            if name.ends_with("LEVEL.csv")
                || ["timestamps", "sysinfo", "roofline", "profiling"].iter().any(|s| name.starts_with(s))
            {
                files.insert("pmc_perf.csv".to_string(), wide.into());
            }
            match read(&files, &Options { max_unpacked: 1 << 20 }) {
                Ok(w) => {
                    read_well += 1;
                    let rows = w.dispatches.len();
                    assert!(w.counters.iter().all(|c| c.values.len() == rows), "round {round}, {name}");
                    let back = rockhound_workload::write(&w);
                    assert!(back.contains_key("pmc_perf.csv"));
                }
                Err(e) => {
                    refused += 1;
                    assert!(!e.to_string().is_empty());
                }
            }
        }
    }
    assert!(read_well > 1000 && refused > 100, "{read_well} read, {refused} refused");
}

#[test]
fn ceilings_of_another_gpu_are_said() {
    let counters = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES\n0,copy,0,100,4\n";
    for (model, ceilings, warned) in [
        ("MI300X", "device,HBMBw,gpu\n0,4000,MI210\n", true),
        ("MI300X", "device,HBMBw,gpu\n0,4000,MI300X\n", false),
        ("MI300X_A1", "device,HBMBw,gpu\n0,4000,MI300X\n", false),
        // The vendor's file does not say.
        ("MI300X", "device,HBMBw\n0,4000\n", false),
        ("", "device,HBMBw,gpu\n0,4000,MI210\n", false),
    ] {
        let machine = format!("gpu_arch,gpu_model\ngfx942,{model}\n");
        let files = [("pmc_perf.csv", counters), ("sysinfo.csv", &machine), ("roofline.csv", ceilings)];
        let w = load(&files).unwrap();
        let problems = problems(&w);
        assert_eq!(
            problems.iter().any(|it| it.contains("MI210")),
            warned,
            "{model} {ceilings}: {problems:?}"
        );
        assert_eq!(w.ceilings[0].values["HBMBw"], 4000.0);
        let back = read(&rockhound_workload::write(&w), &Options::default()).unwrap();
        assert_eq!(back.ceilings, w.ceilings);
    }
}
