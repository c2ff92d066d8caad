//! Made-up folder layouts: a file for each pass, native counters, counters in a database's side file,
//! roofline only, and files without any counter.

use rockhound_workload::{ABSENT, Generation, Options, Workload, read};
use std::collections::BTreeMap;
use view::NoteKind;

type Files = BTreeMap<String, Vec<u8>>;

fn folder(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(name, text)| ((*name).to_string(), text.as_bytes().to_vec())).collect()
}

fn load(files: &Files) -> Workload {
    read(files, &Options::default()).unwrap()
}

/// Problems apart from those about side files this test does not write.
fn said(w: &Workload) -> Vec<String> {
    w.problems.iter().filter(|it| it.message != ABSENT).map(ToString::to_string).collect()
}

/// The same with how much they matter.
fn with_kinds(w: &Workload) -> String {
    let own = w.problems.iter().filter(|it| it.message != ABSENT);
    own.map(|it| format!("{:?}: {it}\n", it.kind)).collect()
}

fn column(w: &Workload, name: &str) -> Vec<Option<f64>> {
    w.counters.get(name).unwrap_or_else(|| panic!("{name} is absent")).values.iter().collect()
}

fn times(w: &Workload) -> Vec<Option<f64>> {
    (0..w.dispatches.len()).map(|row| w.dispatches.duration(row)).collect()
}

const LONG: &str = "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n";
const WIDE: &str = "Dispatch_ID,GPU_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,";
const LEVELS: &str = "GPU_ID,Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,SQ_ACCUM_PREV_HIRES\n";

#[test]
fn long_files_of_passes_are_joined() {
    let first = format!("{LONG}1,0,a,64,64,10,20,SQ_WAVES,1\n2,0,b,64,64,30,40,SQ_WAVES,2\n");
    // The next run of the application counts from 0.
    let second =
        format!("{LONG}0,0,a,64,64,110,124,SQ_INSTS_VALU,10\n1,0,b,64,64,130,144,SQ_INSTS_VALU,20\n");
    for name in ["results_pmc_perf_{}.csv", "pmc_perf_{}.csv", "{}_counter_collection.csv", "counters {}.csv"]
    {
        let files = folder(&[(&name.replace("{}", "2"), &first), (&name.replace("{}", "10"), &second)]);
        let w = load(&files);
        assert_eq!(said(&w), Vec::<String>::new(), "{name}");
        assert_eq!(w.dispatches.id, [1, 2], "{name}");
        assert_eq!(column(&w, "SQ_WAVES"), [1.0, 2.0].map(Some), "{name}");
        assert_eq!(column(&w, "SQ_INSTS_VALU"), [10.0, 20.0].map(Some), "{name}");
        assert_eq!(times(&w), [12.0, 12.0].map(Some), "{name}");
    }
}

#[test]
fn files_with_other_numbers_of_dispatches_are_said() {
    let first = format!("{LONG}1,0,a,64,64,10,20,SQ_WAVES,1\n");
    let second =
        format!("{LONG}1,0,a,64,64,110,120,SQ_INSTS_VALU,10\n2,0,a,64,64,130,140,SQ_INSTS_VALU,20\n");
    let wide = format!("{WIDE}SQ_WAVES\n1,0,a,64,64,10,20,1\n");
    let more = format!("{WIDE}SQ_INSTS_VALU\n1,0,a,64,64,110,120,10\n2,0,a,64,64,130,140,20\n");
    for (name, first, second) in [("results_pmc_perf", &first, &second), ("pmc_perf", &wide, &more)] {
        let files = folder(&[(&format!("{name}_0.csv"), first), (&format!("{name}_1.csv"), second)]);
        let w = load(&files);
        // No dispatch is lost, whichever file has it.
        assert_eq!(column(&w, "SQ_INSTS_VALU"), [10.0, 20.0].map(Some), "{name}");
        assert_eq!(column(&w, "SQ_WAVES"), [Some(1.0), None], "{name}");
        testkit::golden(&format!("passes of other lengths: {name}"), &said(&w).join("\n"));
    }
}

#[test]
fn wide_files_of_passes_are_joined_with_their_mean_times() {
    let files = folder(&[
        (
            "pmc_perf_0.csv",
            &format!("{WIDE}SQ_WAVES,GRBM_GUI_ACTIVE\n0,2,a,64,64,100,200,1,50\n1,2,a,64,64,300,400,2,60\n"),
        ),
        (
            "pmc_perf_1.csv",
            &format!(
                "{WIDE}SQ_INSTS_VALU,GRBM_GUI_ACTIVE\n0,2,a,64,64,500,602,3,51\n1,2,a,64,64,700,801,4,61\n"
            ),
        ),
        ("pmc_perf_2.csv", &format!("{WIDE}TCC_HIT[0]\n0,2,a,64,64,900,1001,5\n1,2,a,64,64,1100,1200,6\n")),
        ("SQ_LEVEL_WAVES.csv", &format!("{LEVELS}2,0,a,64,64,1300,1401,7\n2,1,a,64,64,1500,1600,8\n")),
    ]);
    let w = load(&files);
    assert_eq!((w.generation, said(&w)), (Generation::Wide, Vec::new()));
    assert_eq!(column(&w, "SQ_INSTS_VALU"), [3.0, 4.0].map(Some));
    assert_eq!(column(&w, "GRBM_GUI_ACTIVE"), [50.0, 60.0].map(Some));
    assert_eq!(column(&w, "SQ_LEVEL_WAVES_ACCUM"), [7.0, 8.0].map(Some));
    assert_eq!(times(&w), [101.0, 100.25].map(Some));
    // A fraction of a nanosecond is written and read again.
    let back = load(&rockhound_workload::write(&w));
    assert_eq!(back.dispatches, w.dispatches);
}

#[test]
fn levels_among_the_columns_of_a_joined_file_are_read() {
    let levels = "Kernel_ID,SQ_WAVES,Kernel_ID_1,SQ_IFETCH,SQ_IFETCH_LEVEL,SQ_ACCUM_PREV_HIRES,Kernel_ID_2,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES_2,TCC_HIT[0]";
    let w = load(&folder(&[(
        "pmc_perf.csv",
        &format!("{WIDE}{levels}\n0,0,a,64,64,1,2,9,10,9,30,4,300,9,7,700,5\n"),
    )]));
    assert_eq!(column(&w, "SQ_IFETCH_LEVEL_ACCUM"), [Some(300.0)]);
    assert_eq!(column(&w, "SQ_LEVEL_WAVES_ACCUM"), [Some(700.0)]);
    assert_eq!(column(&w, "SQ_LEVEL_WAVES"), [Some(7.0)]);
    let pass = |name: &str| w.counters.get(name).unwrap().pass;
    assert_eq!(
        ["SQ_WAVES", "SQ_IFETCH", "SQ_IFETCH_LEVEL_ACCUM", "SQ_LEVEL_WAVES_ACCUM"].map(pass),
        [0, 1, 1, 2].map(Some)
    );
    // No file is missed where the levels are columns, but a level may be.
    testkit::golden("levels among the columns", &said(&w).join("\n"));
    let lone = load(&folder(&[(
        "pmc_perf.csv",
        &format!("{WIDE}SQ_WAVES,SQ_ACCUM_PREV_HIRES_3\n0,0,a,64,64,1,2,1,5\n"),
    )]));
    assert_eq!(column(&lone, "SQ_ACCUM_PREV_HIRES_3"), [Some(5.0)]);
    testkit::golden("a sum of no level", &said(&lone).join("\n"));
}

#[test]
fn what_cannot_have_happened_is_said() {
    let table = |counters: &str, rows: &[&str]| {
        let rows: String =
            rows.iter().enumerate().map(|(id, row)| format!("{id},0,a,64,64,{row}\n")).collect();
        said(&load(&folder(&[("pmc_perf.csv", &format!("{WIDE}{counters}\n{rows}"))])))
    };
    let same = |count: usize| -> Vec<String> {
        (0..count).map(|i| format!("{},{},7", 10 * i, 10 * i + 5)).collect()
    };
    let rows = same(16);
    for (what, counters, rows) in [
        ("no waves", "SQ_WAVES,TCC_HIT_sum", vec!["1000,100001000,0,5", "200000000,200001000,1,5"]),
        ("all are 0", "A_B,C_D,E_F", vec!["1,2,0,0,0", "3,5,0,,0"]),
        ("the same start and end", "SQ_WAVES", vec!["1,9,3", "1,9,4", "1,9,5"]),
        ("the same time", "SQ_WAVES", rows.iter().map(String::as_str).collect()),
    ] {
        testkit::golden(what, &table(counters, &rows).join("\n"));
    }
    // What may be 0 may be, and few dispatches may be alike.
    assert_eq!(table("SQ_LDS_BANK_CONFLICT,SQ_INSTS_LDS", &["1,2,0,0", "5,6,0,0"]), Vec::<String>::new());
    let rows = same(15);
    assert_eq!(table("SQ_WAVES", &rows.iter().map(String::as_str).collect::<Vec<_>>()), Vec::<String>::new());
}

#[test]
fn times_of_a_run_without_counters_are_those_of_the_counters() {
    let old = "Index,KernelName,gpu-id,grd,wgr,lds,scr,sig,obj";
    let files = folder(&[
        (
            "bankconflicts.csv",
            &format!("{old},LDSBankConflict\n0,a,8,64,64,0,0,0x0,0x1,12.5\n1,b,8,64,64,0,0,0x0,0x1,0\n"),
        ),
        (
            "data_movement.csv",
            &format!("{old},FetchSize\n0,a,8,64,64,0,0,0x0,0x1,100\n1,b,8,64,64,0,0,0x0,0x1,200\n"),
        ),
        (
            "results.csv",
            &format!(
                "{old},DispatchNs,BeginNs,EndNs,CompleteNs,DurationNs\n0,a,8,64,64,0,0,0x0,0x1,1,10,30,40,20\n1,b,8,64,64,0,0,0x0,0x1,1,50,45,70,-5\n"
            ),
        ),
        (
            "results.stats.csv",
            "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n\"a\",1,20,20,100\n",
        ),
    ]);
    let w = load(&files);
    assert_eq!(column(&w, "LDSBankConflict"), [12.5, 0.0].map(Some));
    assert_eq!(column(&w, "FetchSize"), [100.0, 200.0].map(Some));
    assert_eq!(times(&w), [Some(20.0), None]);
    assert_eq!(w.sources, ["bankconflicts.csv", "data_movement.csv", "results.csv"]);
    testkit::golden("an end before its start", &said(&w).join("\n"));
}

#[test]
fn fractions_of_nanoseconds_are_kept() {
    let rows = "0,0,a,64,64,13386742234691895.25,13386742234710411.5,1\n1,0,a,64,64,-3.5,8.25,1\n2,0,a,64,64,5,9,1\n";
    let w = load(&folder(&[("pmc_perf.csv", &format!("{WIDE}SQ_WAVES\n{rows}"))]));
    assert_eq!(times(&w), [18516.25, 11.75, 4.0].map(Some));
    let back = load(&rockhound_workload::write(&w));
    assert_eq!(back.dispatches, w.dispatches);
    let long = format!("{LONG}1,0,a,64,64,10.5,20.75,SQ_WAVES,1\n");
    assert_eq!(times(&load(&folder(&[("pmc_perf.csv", &long)]))), [Some(10.25)]);
}

const COUNTERS: &str =
    "dispatch_id,gpu_id,kernel_id,lds_per_workgroup,counter_id,counter_name,counter_value\n";
const DISPATCH: &str = "dispatch_id,gpu_id,kernel_id,grid_size,workgroup_size,lds_per_workgroup,scratch_per_workitem,start_timestamp,end_timestamp,correlation_id\n";
const SYMBOLS: &str = "kernel_id,kernel_name,kernel_short_name,arch_vgpr,accum_vgpr,sgpr\n";

/// Two passes; in the second a fork of the program runs a kernel too.
fn native() -> Files {
    let symbols = format!("{SYMBOLS}7,\"a(int, int)\",a,8,4,16\n9,b,b,12,0,32\n");
    let launches = format!("{DISPATCH}1,2,7,64,64,0,0,100,110,1\n2,2,9,128,64,512,0,120,140,2\n");
    folder(&[
        (
            "counters_pmc_perf_0_50.csv",
            &format!("{COUNTERS}1,2,7,0,3,SQ_WAVES,1\n1,2,7,0,3,SQ_WAVES,2\n2,2,9,0,3,SQ_WAVES,5\n"),
        ),
        ("dispatch_pmc_perf_0_50.csv", &launches),
        ("kernel_symbols_pmc_perf_0_50.csv", &symbols),
        (
            "counters_pmc_perf_1_60.csv",
            &format!("{COUNTERS}1,2,7,0,4,SQ_INSTS_VALU,10\n2,2,9,0,4,SQ_INSTS_VALU,20\n"),
        ),
        ("dispatch_pmc_perf_1_60.csv", &launches),
        ("kernel_symbols_pmc_perf_1_60.csv", &symbols),
    ])
}

#[test]
fn native_counters_meet_dispatches_and_kernels() {
    let w = load(&native());
    assert_eq!((w.generation, said(&w)), (Generation::Native, Vec::new()));
    assert_eq!(w.kernels, ["a(int, int)", "b"]);
    // Rows of the instances of a block are added up.
    assert_eq!(column(&w, "SQ_WAVES"), [3.0, 5.0].map(Some));
    assert_eq!(column(&w, "SQ_INSTS_VALU"), [10.0, 20.0].map(Some));
    assert_eq!(times(&w), [10.0, 20.0].map(Some));
    assert_eq!(w.dispatches.lds.iter().collect::<Vec<_>>(), [0.0, 512.0].map(Some));
    assert_eq!(w.dispatches.sgpr.iter().collect::<Vec<_>>(), [16.0, 32.0].map(Some));
}

#[test]
fn processes_of_one_pass_stand_beside_each_other() {
    let mut files = native();
    for (pass, process, counter) in [(0, 51, "SQ_WAVES"), (1, 61, "SQ_INSTS_VALU")] {
        let of = |kind: &str| format!("{kind}_pmc_perf_{pass}_{process}.csv");
        files.insert(of("counters"), format!("{COUNTERS}1,2,3,0,3,{counter},7\n").into_bytes());
        files.insert(of("dispatch"), format!("{DISPATCH}1,2,3,64,64,0,0,115,118,1\n").into_bytes());
        files.insert(of("kernel_symbols"), format!("{SYMBOLS}3,\"a(int, int)\",a,8,4,16\n").into_bytes());
    }
    let w = load(&files);
    testkit::golden("two processes", &said(&w).join("\n"));
    assert_eq!(w.dispatches.id, [1, 2, 3]);
    assert_eq!(column(&w, "SQ_WAVES"), [3.0, 7.0, 5.0].map(Some));
    assert_eq!(column(&w, "SQ_INSTS_VALU"), [10.0, 7.0, 20.0].map(Some));
}

#[test]
fn native_sets_that_do_not_fit_are_said() {
    let cases = [
        ("no symbols", "kernel_symbols", None),
        ("no value", "counters", Some("dispatch_id,counter_name\n")),
        (
            "no dispatch of a value",
            "counters",
            Some("dispatch_id,counter_name,counter_value\n8,SQ_INSTS_VALU,1\n1,SQ_INSTS_VALU,10\n"),
        ),
        ("no symbol", "kernel_symbols", Some("kernel_id,kernel_name\n7,\"a(int, int)\"\n")),
        ("no dispatches", "dispatch", Some("dispatch_id,kernel_id\n")),
    ];
    for (what, kind, text) in cases {
        let file = format!("{kind}_pmc_perf_1_60.csv");
        let mut files = native();
        match text {
            Some(text) => files.insert(file.clone(), text.as_bytes().to_vec()),
            None => files.remove(&file),
        };
        let w = load(&files);
        assert_eq!(column(&w, "SQ_WAVES"), [3.0, 5.0].map(Some), "{file}");
        testkit::golden(what, &with_kinds(&w));
    }
}

fn database(sql: &str) -> Vec<u8> {
    let db = rusqlite::Connection::open_in_memory().unwrap();
    db.execute_batch(sql).unwrap();
    db.serialize("main").unwrap().to_vec()
}

const KERNELS: &str = "CREATE TABLE k (dispatch_id INTEGER, agent_abs_index INTEGER, name TEXT, start BIGINT, \"end\" BIGINT, grid_x, grid_y,
        grid_z, workgroup_x, workgroup_y, workgroup_z);
    INSERT INTO k VALUES (1, 4, 'a', 100, 110, 64, 1, 1, 64, 1, 1), (2, 4, 'b', 120, 140, 64, 2, 1, 64, 1, 1);
    CREATE VIEW kernels AS SELECT * FROM k;";

#[test]
fn counters_beside_a_database_are_its_own() {
    let counters = format!("{COUNTERS}1,2,7,0,3,SQ_WAVES,1\n1,2,7,0,3,SQ_WAVES,2\n2,2,9,0,3,SQ_WAVES,5\n");
    let more = format!("{COUNTERS}1,2,7,0,3,SQ_INSTS_VALU,10\n2,2,9,0,3,SQ_INSTS_VALU,20\n");
    let mut files = folder(&[
        ("out/pmc_perf_0/7_native_counter_collection.csv", &counters),
        ("out/pmc_perf_1/8_native_counter_collection.csv", &more),
        ("sysinfo.csv", "gpu_arch,cu_per_gpu,num_memory_channels\ngfx942,304,64\n"),
    ]);
    files.insert("out/pmc_perf_0/7/7.db".to_string(), database(KERNELS));
    files.insert("out/pmc_perf_1/host/8_results.db".to_string(), database(KERNELS));
    let w = load(&files);
    assert_eq!((w.generation, said(&w)), (Generation::Rocpd, Vec::new()));
    assert_eq!(column(&w, "SQ_WAVES"), [3.0, 5.0].map(Some));
    assert_eq!(column(&w, "SQ_INSTS_VALU"), [10.0, 20.0].map(Some));
    assert_eq!(times(&w), [10.0, 20.0].map(Some));
    assert_eq!(w.dispatches.grid.iter().collect::<Vec<_>>(), [64.0, 128.0].map(Some));
    // The facts in a database's side files are the machine's.
    assert_eq!(w.machine.target(), Some("gfx942"));
    assert_eq!(w.machine.number("num_hbm_channels"), Some(64.0));
    // A value that the database has already is said where it differs.
    let own = "CREATE TABLE d AS SELECT k.*, 'SQ_WAVES' AS counter_name, 3.0 AS value FROM k;
        CREATE VIEW counters_collection AS SELECT *, name AS kernel_name FROM d;";
    files.insert("out/pmc_perf_0/7/7.db".to_string(), database(&format!("{KERNELS}{own}")));
    let w = load(&files);
    assert_eq!(column(&w, "SQ_WAVES"), [3.0, 3.0].map(Some));
    testkit::golden("values that differ", &said(&w).join("\n"));
    // Without its database a file has no dispatches.
    files.remove("out/pmc_perf_0/7/7.db");
    let w = load(&files);
    assert!(w.counters.get("SQ_WAVES").is_none());
    assert!(
        w.problems
            .iter()
            .any(|it| it.kind == NoteKind::Error && it.file.ends_with("7_native_counter_collection.csv"))
    );
    files.remove("out/pmc_perf_1/host/8_results.db");
    let error = read(&files, &Options::default()).unwrap_err().to_string();
    testkit::golden("counters without their database", &error);
}

#[test]
fn a_database_that_is_none_is_said() {
    let mut files = folder(&[("b.db", ""), ("c.db", "SQLite format 3\0and then nothing")]);
    files.insert("a.db".to_string(), database(KERNELS));
    let w = load(&files);
    let errors = w.problems.iter().filter(|it| it.kind == NoteKind::Error).map(|it| it.file.as_str());
    assert_eq!(errors.collect::<Vec<_>>(), ["b.db", "c.db"], "{:?}", said(&w));
    assert!(w.problems.iter().any(|it| it.file == "a.db"), "{:?}", said(&w));
}

#[test]
fn a_reading_without_counters_is_never_silent() {
    let trace = "Kind,Agent_Id,Kernel_Name,Start_Timestamp,End_Timestamp\nKERNEL_DISPATCH,1,a,10,20\n";
    let wide = format!("{WIDE}\n0,0,a,64,64,10,20,\n");
    let pid = "Dispatch_ID,Counter_Name,Counter_Value\n1,SQ_WAVES,3\n";
    for files in [
        &[("1_kernel_trace.csv", trace)][..],
        &[("pmc_perf.csv", &wide)],
        &[("results.csv", "KernelName,grd\na,64\n"), ("pid.csv", pid)],
    ] {
        testkit::golden(&format!("no counters in {}", files[0].0), &with_kinds(&load(&folder(files))));
    }
}

#[test]
fn what_a_recording_was_not_to_have_is_not_missed() {
    let main = format!("{WIDE}SQ_WAVES\n0,0,a,64,64,10,20,1\n");
    let absent = |more: &[(&str, &str)]| {
        let files: Vec<(&str, &str)> =
            [("pmc_perf.csv", main.as_str())].iter().chain(more).copied().collect();
        let w = load(&folder(&files));
        let absent = w.problems.iter().filter(|it| it.message == ABSENT);
        absent.map(|it| it.file.clone()).collect::<Vec<_>>()
    };
    let machine = ("sysinfo.csv", "gpu_arch,ip_blocks\ngfx90a,SQ|TCC\n");
    assert_eq!(absent(&[machine]).len(), 5);
    assert_eq!(absent(&[machine, ("profiling_config.yaml", "roof_only: true\n")]), Vec::<String>::new());
    assert_eq!(absent(&[("sysinfo.csv", "gpu_arch,ip_blocks\ngfx90a,roofline\n")]), Vec::<String>::new());
    // The profiler planned one run for a level, and it is not there.
    let planned = [
        machine,
        ("perfmon/pmc_perf_0.txt", "pmc: SQ_WAVES\n"),
        ("perfmon/SQ_LEVEL_WAVES.txt", "pmc: SQ_LEVEL_WAVES\n"),
    ];
    assert_eq!(absent(&planned), ["SQ_LEVEL_WAVES.csv"]);
}

#[test]
fn cells_that_no_value_fills_are_refused() {
    let mut text = LONG.to_string();
    for i in 0..20_000 {
        text.push_str(&format!("{i},0,a,64,64,{},{},C{i}_X,1\n", 10 * i, 10 * i + 5));
    }
    let error = read(&folder(&[("pmc_perf.csv", &text)]), &Options::default()).unwrap_err().to_string();
    assert_eq!(error.matches("20000").count(), 3, "counters, dispatches, values: {error}");
}

/// Invariants of every reading.
fn holds(files: &Files, what: &str) -> bool {
    match read(files, &Options { max_unpacked: 1 << 20 }) {
        Ok(w) => {
            let rows = w.dispatches.len();
            assert!(rows > 0 && w.counters.iter().all(|it| it.values.len() == rows), "{what}");
            let two =
                rockhound_workload::merge(vec![("0".to_string(), w.clone()), ("1".to_string(), w.clone())])
                    .unwrap();
            assert_eq!(two.dispatches.len(), 2 * rows, "{what}");
            let back = read(&rockhound_workload::write(&w), &Options::default()).unwrap();
            assert_eq!(back.dispatches.len(), rows, "{what}");
            true
        }
        Err(error) => {
            assert!(error.to_string().len() > 10, "{what}: {error}");
            false
        }
    }
}

#[test]
fn damaged_layouts_give_a_workload_or_an_error() {
    let first = format!(
        "{LONG}1,0,a,64,64,10,20,SQ_WAVES,1\n2,0,\"b(int, \"\"x\"\")\",64,64,30.5,40.25,SQ_WAVES,2\n"
    );
    let second = format!(
        "{LONG}0,0,a,64,64,110,124,TCC_HIT[3],10\n1,0,\"b(int, \"\"x\"\")\",64,64,130,144,SQ_WAVES,20\n"
    );
    let wide = format!("{WIDE}SQ_WAVES,TCC_HIT[0]\n0,2,a,64,64,100.5,200,1,50\n1,2,a,64,64,300,400,2,60\n");
    let takes_turns = format!(
        "{LONG}1,0,a,64,64,10,20,SQ_WAVES,1\n2,0,a,64,64,30,40,TCC_HIT[3],2\n3,0,a,64,64,50,60,SQ_WAVES,3\n"
    );
    let counters = format!("{COUNTERS}1,2,7,0,3,SQ_WAVES,1\n2,2,9,0,3,SQ_WAVES,5\n");
    let mut beside = folder(&[("pmc_1/7_native_counter_collection.csv", &counters)]);
    beside.insert("pmc_1/7.db".to_string(), database(KERNELS));
    let layouts = [
        folder(&[("results_pmc_perf_0.csv", &first), ("results_pmc_perf_1.csv", &second)]),
        folder(&[("pmc_perf_0.csv", &wide), ("pmc_perf_1.csv", &wide)]),
        folder(&[
            ("pmc_perf.csv", &takes_turns),
            ("profiling_config.yaml", "iteration_multiplexing: kernel\n"),
        ]),
        native(),
        beside,
    ];
    let mut numbers = testkit::Random(1);
    let (mut read_well, mut refused) = (0, 0);
    let mut check = |files: &Files, what: &str| {
        if holds(files, what) { read_well += 1 } else { refused += 1 }
    };
    for layout in &layouts {
        for (name, seed) in layout {
            // Cut off anywhere.
            for end in (0..seed.len()).step_by(1 + seed.len() / 500) {
                let mut files = layout.clone();
                files.insert(name.clone(), seed[..end].to_vec());
                check(&files, &format!("{name} cut off after {end}"));
            }
            for round in 0..200 {
                let mut bytes = seed.clone();
                for _ in 0..1 + numbers.below(4) {
                    let at = numbers.below(bytes.len().max(1));
                    match numbers.below(5) {
                        0 => bytes.truncate(at),
                        1 if !bytes.is_empty() => bytes[at] = numbers.below(256) as u8,
                        2 if !bytes.is_empty() => bytes[at] = b",\"\n\r.[]-0"[numbers.below(9)],
                        3 => drop(
                            bytes.splice(at.min(bytes.len())..at.min(bytes.len()), *b"99999999999999999999"),
                        ),
                        _ => {
                            let end = (at + numbers.below(40)).min(bytes.len());
                            let at = at.min(end);
                            let piece = bytes[at..end].to_vec();
                            let to = numbers.below(bytes.len().max(1));
                            drop(bytes.splice(to.min(bytes.len())..to.min(bytes.len()), piece));
                        }
                    }
                }
                let mut files = layout.clone();
                files.insert(name.clone(), bytes);
                check(&files, &format!("{name}, round {round}"));
            }
        }
    }
    assert!(read_well > 1000 && refused > 100, "{read_well} read, {refused} refused");
}
