//! Tables that users edit or convert from profilers' output: other dialects, orders and names of columns, cut
//! off anywhere, two profilers in one folder. Values are read correctly, and unread data is reported.

use rockhound_workload::{Error, Options, Workload, read};
use std::collections::BTreeMap;
use view::NoteKind;

type Files = Vec<(&'static str, String)>;

const LONG: &str = "Dispatch_Id,Agent_Id,Grid_Size,Kernel_Name,Workgroup_Size,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n\
     1,\"Agent 2\",64,\"a(int, b)\",64,SQ_WAVES,1.5,1000,2000\n2,\"Agent 2\",128,c,64,SQ_WAVES,2,3000,5000\n";
const OLD: &str = "Index,KernelName,gpu-id,grd,wgr,SQ_WAVES,VALUBusy,BeginNs,EndNs\n\
     1,\"a(int, b)\",2,64,64,1.5,0.25,1000,2000\n2,c,2,128,64,2,0.5,3000,5000\n";

fn load(files: &[(&str, String)]) -> Result<Workload, Error> {
    let folder: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(name, text)| ((*name).to_string(), text.as_bytes().to_vec())).collect();
    read(&folder, &Options::default())
}

fn waves(w: &Workload) -> Vec<Option<f64>> {
    w.counters.get("SQ_WAVES").map_or_else(Vec::new, |it| it.values.iter().collect())
}

/// The columns of a table in another order.
fn turned(text: &str) -> String {
    let line = |line: &str| {
        // The one comma in quotes does not separate fields.
        let mut fields: Vec<String> =
            line.replace("int, b", "int@ b").split(',').map(|it| it.replace('@', ",")).collect();
        fields.reverse();
        fields.join(",") + "\n"
    };
    text.lines().map(line).collect()
}

/// Semicolons between fields, commas in numbers.
fn of_a_spreadsheet(text: &str) -> String {
    let text = text.replace("int, b", "int@ b").replace(',', ";").replace('@', ",");
    text.replace("1.5", "1,5").replace("0.25", "0,25").replace("0.5", "0,5")
}

#[test]
fn dialects_and_orders_say_the_same() {
    type Change = fn(&str) -> String;
    let changes: [(&str, Change); 8] = [
        ("as written", str::to_string),
        ("in another order", turned),
        ("with a mark of bytes", |text| format!("\u{feff}{text}")),
        ("of Windows", |text| text.replace('\n', "\r\n")),
        ("of a spreadsheet", of_a_spreadsheet),
        ("of a spreadsheet, turned", |text| of_a_spreadsheet(&turned(text))),
        ("with tabs", |text| text.replace("int, b", "int@ b").replace(',', "\t").replace('@', ",")),
        ("with blank lines", |text| text.replace('\n', "\n\n")),
    ];
    for (how, change) in changes {
        for table in [LONG, OLD] {
            let w = load(&[("my table.csv", change(table))]).unwrap();
            assert_eq!(waves(&w), [Some(1.5), Some(2.0)], "{how}: {table}");
            assert_eq!(w.kernels, ["a(int, b)", "c"], "{how}: {table}");
            assert_eq!(w.dispatches.gpu, [2, 2], "{how}: {table}");
            let times: Vec<_> = (0..2).map(|row| w.dispatches.duration(row)).collect();
            assert_eq!(times, [Some(1000.0), Some(2000.0)], "{how}: {table}");
            assert!(w.problems.iter().all(|it| it.kind == NoteKind::Warning), "{how}: {:?}", w.problems);
        }
    }
}

#[test]
fn what_is_wrong_with_columns_is_said() {
    let without = |column: &str| {
        let at = LONG.lines().next().unwrap().split(',').position(|it| it == column).unwrap();
        let line = |line: &str| {
            let line = line.replace("int, b", "int@ b");
            let kept: Vec<&str> =
                line.split(',').enumerate().filter(|it| it.0 != at).map(|it| it.1).collect();
            kept.join(",").replace('@', ",") + "\n"
        };
        LONG.lines().map(line).collect::<String>()
    };
    // Files, message, number of remaining counters.
    let cases: Vec<(Files, &str, usize)> = vec![
        (
            vec![("x.csv", OLD.replace("VALUBusy", "SQ_WAVES"))],
            "column `SQ_WAVES`: the column occurs twice",
            1,
        ),
        (vec![("x.csv", OLD.replace("SQ_WAVES", "SQ WAVES"))], "", 2),
        (vec![("x.csv", without("Kernel_Name"))], "there is no column `Kernel_Name`", 1),
        (vec![("x.csv", without("Start_Timestamp"))], "no start and end times are recorded", 1),
        (vec![("x.csv", without("Dispatch_Id"))], "", 1),
        (vec![("x_counter_collection.csv", without("Counter_Value"))], "no column `Counter_Value`", 0),
        (vec![("x.csv", without("Counter_Value"))], "no column `Counter_Value`", 0),
        (vec![("x.csv", OLD.replace("0.25", "quarter"))], "columns that begin with no number: `VALUBusy`", 1),
        (vec![("x.csv", OLD.replace("0.5", "half"))], "column `VALUBusy`: `half` is not a number", 2),
        (vec![("x.csv", OLD.replace("0.25", ""))], "", 2),
        // Two profilers: one is read, the other named with what it alone counts.
        (
            vec![("old.csv", OLD.to_string()), ("x_counter_collection.csv", LONG.to_string())],
            "old.csv: the file has counters that no other has: `VALUBusy`",
            1,
        ),
        (
            vec![
                ("pmc_perf.csv", "Dispatch_ID,Kernel_Name,SQ_WAVES\n0,a,1\n".to_string()),
                ("left.csv", LONG.replace("SQ_WAVES", "TCC_HIT[3]")),
            ],
            "left.csv: the file has counters that no other has: `TCC_HIT`",
            1,
        ),
    ];
    for (files, want, counters) in cases {
        match load(&files) {
            Ok(w) => {
                let said: Vec<String> = w.problems.iter().map(ToString::to_string).collect();
                assert!(want.is_empty() || said.iter().any(|it| it.contains(want)), "{want}: {said:?}");
                let known = w.counters.iter().filter(|it| !it.values.is_blank()).count();
                assert_eq!(known, counters, "{want}: {said:?}");
            }
            Err(error) => {
                assert!(error.to_string().contains(want) && counters == 0, "{want}: {error}");
            }
        }
    }
}

#[test]
fn a_table_cut_off_anywhere_is_no_other_recording() {
    let both = |text: &str| [("a.csv", text.to_string()), ("b.csv", LONG.replace("SQ_WAVES", "SQ_INSTS"))];
    for table in [LONG.to_string(), OLD.to_string(), of_a_spreadsheet(OLD), turned(LONG)] {
        for end in 0..=table.len() {
            let Some(cut) = table.get(..end) else { continue };
            for files in [vec![("a.csv", cut.to_string())], both(cut).to_vec()] {
                match load(&files) {
                    Ok(w) => {
                        let rows = w.dispatches.len();
                        assert!(rows > 0 && w.counters.iter().all(|it| it.values.len() == rows), "{cut}");
                        // A number that was cut may be another one; the first of a whole line is not.
                        let first = waves(&w).first().copied().flatten();
                        assert!(
                            first.is_none_or(|it| it == 1.5 || it == 1.0 || it == 2.0),
                            "{cut}: {first:?}"
                        );
                    }
                    Err(error) => assert!(error.to_string().len() > 10, "{cut}: {error}"),
                }
            }
        }
    }
}

#[test]
fn ten_thousand_columns_of_two_files_are_joined() {
    let table = |first: usize| {
        let names: String = (first..first + 5000).map(|i| format!(",SQ_MADE_UP_{i}")).collect();
        let values: String = (first..first + 5000).map(|i| format!(",{i}")).collect();
        format!("Index,KernelName,grd{names}\n0,\"k, l\",64{values}\n")
    };
    let w = load(&[("x.csv", table(0)), ("y.csv", table(5000))]).unwrap();
    assert_eq!(w.counters.len(), 10_000);
    for at in [0, 4999, 5000, 9999] {
        let counter = w.counters.get(&format!("SQ_MADE_UP_{at}")).unwrap();
        assert_eq!(counter.values.get(0), Some(f64::from(at)));
    }
}

#[test]
fn rows_without_number_are_of_dispatches_in_order() {
    let text = "Kernel_Name,Counter_Name,Counter_Value\nc,FETCH_SIZE,1\nd,FETCH_SIZE,2\nc,WRITE_SIZE,3\nc,FETCH_SIZE,4\nc,WRITE_SIZE,5\nd,WRITE_SIZE,6\n";
    let w = load(&[("mine.csv", text.to_string())]).unwrap();
    let values = |name: &str| w.counters.get(name).unwrap().values.iter().collect::<Vec<_>>();
    let kernels: Vec<&str> = (0..w.dispatches.len()).map(|row| w.kernel_of(row)).collect();
    assert_eq!(kernels, ["c", "d", "c"]);
    assert_eq!(values("FETCH_SIZE"), [Some(1.0), Some(2.0), Some(4.0)]);
    assert_eq!(values("WRITE_SIZE"), [Some(3.0), Some(6.0), Some(5.0)]);
    assert!(w.problems.iter().any(|it| it.message == "there is no column `Dispatch_ID`"), "{:?}", w.problems);
    assert!(!w.problems.iter().any(|it| it.message.contains("multiplexing")), "{:?}", w.problems);
}

/// Derived counters in the tables of each generation, as published.
#[test]
fn no_derived_counter_is_lost_in_any_form() {
    let tables = [
        // rocprof, with everything that its kernels and times have.
        "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,arch_vgpr,accum_vgpr,sgpr,wave_size,sig,obj,FetchSize,L2CacheHit,MemUnitStalled,DispatchNs,BeginNs,EndNs,CompleteNs\n\
         0,\"c(int*) [clone .kd]\",0,0,0,1,1,64,64,0,0,8,0,16,64,0x0,0x7f,1.5,2.5,3.5,1,2,9,10\n",
        // Its first versions.
        "Index,KernelName,gpu-id,queue-id,queue-index,pid,tid,grd,wgr,lds,scr,vgpr,sgpr,fbar,sig,FetchSize,L2CacheHit,MemUnitStalled\n\
         0,\"c(int*)\",0,0,0,1,1,64,64,0,0,8,16,0,0x7f,1.5,2.5,3.5\n",
        // rocprofv2: a blank line below the header, names in capitals.
        "Dispatch_ID,GPU_ID,Queue_ID,Queue_Index,PID,TID,GRD,WGR,LDS,SCR,Arch_VGPR,ACCUM_VGPR,SGPR,Wave_Size,SIG,OBJ,Kernel_Name,Start_Timestamp,End_Timestamp,Correlation_ID,FetchSize,L2CacheHit,MemUnitStalled\n\n\
         1,4,1,1,1,1,64,64,0,0,8,0,16,64,1,1,\"c(int*) (.kd)\",2,9,33,1.5,2.5,3.5\n",
        // rocprofv3, and the rest of it after columns are cut.
        "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Grid_Size\",\"Kernel_Id\",\"Kernel_Name\",\"Workgroup_Size\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n\
         1,1,\"Agent 1\",64,5,\"c(int*)\",64,\"FetchSize\",1.5e+00,2,9\n1,1,\"Agent 1\",64,5,\"c(int*)\",64,\"L2CacheHit\",2.5,2,9\n1,1,\"Agent 1\",64,5,\"c(int*)\",64,\"MemUnitStalled\",3.5,2,9\n",
        "Kernel_Name,Counter_Name,Counter_Value\nc(int*),FetchSize,1.5\nc(int*),L2CacheHit,2.5\nc(int*),MemUnitStalled,3.5\n",
        "Dispatch_Id,Counter_Name,Counter_Value\n7,FetchSize,1.5\n7,L2CacheHit,2.5\n7,MemUnitStalled,3.5\n",
        // One that a script made.
        "num_reg,Dispatch_Id,Kernel_Name,Duration_ns,FetchSize,L2CacheHit,MemUnitStalled\n32,1,c(int*),100,1.5,2.5,3.5\n",
    ];
    for text in tables {
        let w = load(&[("mine.csv", text.to_string())]).unwrap();
        assert_eq!(w.dispatches.len(), 1, "{text}");
        for (name, want) in [("FetchSize", 1.5), ("L2CacheHit", 2.5), ("MemUnitStalled", 3.5)] {
            let values = w.counters.get(name).map(|it| it.values.iter().collect::<Vec<_>>());
            assert_eq!(values, Some(vec![Some(want)]), "{name} of {text}");
        }
    }
}
