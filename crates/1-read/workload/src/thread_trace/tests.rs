use crate::samples::NO_KERNEL;
use crate::thread_trace::is_thread_trace;
use crate::{Generation, Options, TracedCounts, Workload, is_wave_file, read};
use std::collections::BTreeMap;
use testkit::Random;
use view::NoteKind;

type Files = BTreeMap<String, Vec<u8>>;

fn folder(files: &[(&str, &str)]) -> Files {
    files.iter().map(|(name, text)| ((*name).to_string(), text.as_bytes().to_vec())).collect()
}

const CODE_FILE: &str = "ui_output_agent_9_dispatch_3/code.json";
const TABLE_FILE: &str = "stats_ui_output_agent_9_dispatch_3.csv";

/// Two functions; the columns are in another order than in the vendor's files, with one extra column.
const CODE: &str = r#"{"version":"9","header":"Vaddr, ISA, Stall, Latency, Hit, Later, Idle, Source","code":[
 [256,"; _Z4scalePf.kd",0,0,0,"",0,""],
 [256,"s_load_dword s0, s[4:5], 0x0",0,8,2,"",0,"a.hip:3"],
 [264,"s_waitcnt lgkmcnt(0)",90,98,2,"",8,"a.hip:3"],
 [268,"s_cbranch_scc0 4",0,0,0,"",0,"a.hip:4"],
 [300,"; helper",0,0,0,"",0,""],
 [300,"s_setpc_b64 s[30:31]",10,18,2,"",4,""]]}"#;

const NAMES: &str = r#"{"gfxip":9,"gfxv":"gfx942","wave_filenames":{"0":{"1":{"0":{"0":["a.json",1,2],"1":["b.json",3,4]}}}}}"#;

const TABLE: &str = "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n\
1,256,\"s_load_dword s0, s[4:5], 0x0\",2,8,0,0,\"a.hip:3\"\n1,264,\"s_waitcnt lgkmcnt(0)\",2,98,90,8,\"a.hip:3\"\n";

fn whole() -> Files {
    folder(&[(CODE_FILE, CODE), ("ui_output_agent_9_dispatch_3/filenames.json", NAMES), (TABLE_FILE, TABLE)])
}

fn recorded(files: &Files) -> Workload {
    read(files, &Options::default()).unwrap()
}

#[test]
fn names_tell_what_a_file_is() {
    for (name, table, wave) in [
        ("out/stats_ui_output_agent_4242_dispatch_1.csv", true, false),
        ("stats_ui_output_agent_4242_dispatch_x.csv", false, false),
        ("stats_results.csv", false, false),
        ("a/se0_sm3_sl12_wv1.json", false, true),
        ("se0_sm3_sl_wv1.json", false, false),
        ("code.json", false, false),
    ] {
        assert_eq!((is_thread_trace(name), is_wave_file(name)), (table, wave), "{name}");
    }
}

#[test]
fn waves_have_a_place_and_a_time() {
    let w = recorded(&whole());
    let span = |begin, end| crate::WaveSpan { place: [0, 1, 0], begin, end };
    assert_eq!(w.traces.unwrap().dispatches[0].spans, [span(1, 2), span(3, 4)]);
    // What has no time is counted alone.
    let mut files = whole();
    let names = r#"{"wave_filenames":{"0":{"x":{"0":{"0":["a.json",1,2]}},"1":{"0":{"0":["b.json"],"1":["c",9,3],"2":7}}}}}"#;
    files.insert("ui_output_agent_9_dispatch_3/filenames.json".to_string(), names.as_bytes().to_vec());
    let dispatch = recorded(&files).traces.unwrap().dispatches.remove(0);
    assert_eq!((dispatch.waves, dispatch.spans), (Some(4), Vec::new()));
}

#[test]
fn a_trace_alone_is_a_recording() {
    let w = recorded(&whole());
    assert_eq!((w.generation, w.machine.target()), (Generation::ThreadTrace, Some("gfx942")));
    assert_eq!((&w.dispatches.id[..], w.kernel_of(0)), (&[3][..], "_Z4scalePf"));
    let traces = w.traces.unwrap();
    assert_eq!((traces.own_run, &traces.sources[..]), (false, &[CODE_FILE.to_string()][..]));
    let [scale, helper] = &traces.by_kernel(&|_, _| true)[..] else { panic!("{:?}", traces.kernels) };
    assert_eq!((scale.dispatches, scale.waves, scale.rows.len()), (1, Some(2), 3));
    assert_eq!(scale.total, TracedCounts { hits: 4, latency: 106, stall: 90, idle: 8 });
    let (wait, counts) = scale.rows.iter().nth(1).unwrap();
    assert_eq!(
        (wait.address, wait.text.as_str(), wait.source.as_str()),
        (Some(264), "s_waitcnt lgkmcnt(0)", "a.hip:3")
    );
    assert_eq!(*counts, TracedCounts { hits: 2, latency: 98, stall: 90, idle: 8 });
    assert_eq!((helper.kernel.name.as_str(), helper.total.stall), ("helper", 10));
}

#[test]
fn a_table_says_the_same_without_names() {
    let w = recorded(&folder(&[(TABLE_FILE, TABLE)]));
    assert_eq!((w.kernel_of(0), w.dispatches.id[0]), (NO_KERNEL, 3));
    let kernel = &w.traces.as_ref().unwrap().by_kernel(&|_, _| true)[0];
    assert_eq!((kernel.total.hits, kernel.total.latency, kernel.total.stall), (4, 106, 90));
    // Beside counters of one kernel it is that kernel's.
    let counters = ("pmc_perf.csv", "Dispatch_ID,Kernel_Name,SQ_WAVES\n3,scale(float*),4\n");
    let w = recorded(&folder(&[(TABLE_FILE, TABLE), counters]));
    let traces = w.traces.unwrap();
    assert_eq!((traces.kernels[0].name.as_str(), traces.own_run), ("scale(float*)", false));
}

#[test]
fn dispatches_of_another_run_are_told() {
    let counters = ("pmc_perf.csv", "Dispatch_ID,Kernel_Name,SQ_WAVES\n3,other(),4\n");
    let mut files = whole();
    files.extend(folder(&[counters]));
    assert!(recorded(&files).traces.unwrap().own_run);
}

#[test]
fn what_is_wrong_is_said() {
    let empty =
        r#"{"code":null,"header":"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle"}"#;
    let row = |row: &str| format!("{{\"header\":\"ISA,Vaddr,Hit,Latency,Stall\",\"code\":[{row}]}}");
    // File, severity, message, remaining rows.
    for (text, severity, said, rows) in [
        (empty.to_owned(), NoteKind::Warning, "the thread trace of dispatch 3 is empty", 0),
        (row("[\"s_nop 0\",1,1,2]"), NoteKind::Warning, "instructions without text", 0),
        (
            row("[\"s_nop 0\",1,1,2,1],[\"s_nop 0\",-2,1,2,1]"),
            NoteKind::Warning,
            "instructions without text",
            1,
        ),
        (row("[\"s_nop 0\",1,1,2,3]"), NoteKind::Warning, "stall longer than they take", 1),
    ] {
        let w = recorded(&folder(&[(CODE_FILE, &text)]));
        let problem = w.problems.iter().find(|it| it.message.contains(said));
        assert_eq!(problem.map(|it| it.kind), Some(severity), "{text}: {:?}", w.problems);
        assert_eq!(w.traces.unwrap().rows.len(), rows, "{text}");
    }
    // Without a table to fall back to there is nothing to read.
    for (text, said) in [
        ("{\"code\":[]", "the JSON is damaged"),
        ("{}", "it has no `code`"),
        ("{\"code\":[],\"header\":\"ISA,Hit\"}", "names no column `vaddr`"),
    ] {
        let w = recorded(&folder(&[(CODE_FILE, text), (TABLE_FILE, TABLE)]));
        assert!(w.problems.iter().any(|it| it.message.contains(said)), "{text}: {:?}", w.problems);
        assert_eq!(w.traces.unwrap().sources, [TABLE_FILE], "{text}");
        assert!(read(&folder(&[(CODE_FILE, text)]), &Options::default()).is_err(), "{text}");
    }
}

#[test]
fn what_is_damaged_never_panics() {
    let files = whole();
    let mut random = Random(29);
    for name in files.keys() {
        let bytes = &files[name];
        let try_with = |damaged: Vec<u8>| {
            let mut folder = files.clone();
            folder.insert(name.clone(), damaged);
            let Ok(w) = read(&folder, &Options::default()) else { return };
            let Some(traces) = w.traces else { return };
            let sum: u64 =
                traces.by_kernel(&|_, _| true).iter().map(|it| it.total.stall).fold(0, u64::saturating_add);
            assert_eq!(sum, traces.total().stall, "{name}");
        };
        (0..bytes.len()).for_each(|end| try_with(bytes[..end].to_vec()));
        for _ in 0..700 {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(damaged.len());
                damaged[at] = random.next() as u8;
            }
            try_with(damaged);
        }
    }
}

#[test]
fn the_sample_gives_the_numbers_of_its_notes() {
    let Some(path) = testkit::shared("traces/att/made-mi300x") else { return };
    let w = recorded(&testkit::files(&path));
    let traces = w.traces.unwrap();
    let [kernel] = &traces.by_kernel(&|_, _| true)[..] else { panic!("{:?}", traces.kernels) };
    assert_eq!(
        (kernel.kernel.symbol.as_str(), kernel.waves, kernel.rows.len()),
        ("_Z6squarePfS_", Some(4), 8)
    );
    assert!(kernel.rows.values().all(|it| it.hits == 4));
    assert_eq!((kernel.total.latency, kernel.total.stall), (3439, 3311));
    for (instruction, counts) in &kernel.rows {
        let expected = match instruction.text.as_str() {
            "s_waitcnt vmcnt(0)" => (2557, 2541),
            "s_waitcnt lgkmcnt(0)" => (786, 770),
            _ => (16, 0),
        };
        assert_eq!((counts.latency, counts.stall), expected, "{}", instruction.text);
    }
    // The table alone gives the same.
    let table: Files = testkit::files(&path).into_iter().filter(|(name, _)| is_thread_trace(name)).collect();
    let again = recorded(&table).traces.unwrap().total();
    assert_eq!(again, traces.total());

    let Some(path) = testkit::shared("traces/att/made-empty") else { return };
    let w = recorded(&testkit::files(&path));
    assert!(w.problems.iter().any(|it| it.message.contains("dispatch 2 is empty")), "{:?}", w.problems);
    assert_eq!(w.traces.unwrap().total(), TracedCounts::default());
}

#[test]
fn a_family_is_no_target() {
    let names = NAMES.replace("gfx942", "vega");
    let target = |names: &str| {
        let mut files = whole();
        files.insert("ui_output_agent_9_dispatch_3/filenames.json".to_string(), names.as_bytes().to_vec());
        recorded(&files).machine.target().map(str::to_string)
    };
    assert_eq!((target(NAMES).as_deref(), target(&names)), (Some("gfx942"), None));
}
