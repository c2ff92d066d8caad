//! Definition files: which ones load and which fail, and whether rows and units are where users know them.

use counters::{Need, catalogue, plan};
use rockhound_metrics::{Definitions, Evaluation, Settings, Style, Window, table};
use std::collections::{BTreeMap, BTreeSet};
use view::{Average, Norm};
use workload::{Options, Workload};

#[test]
fn built_in_definitions_hold_on_every_target() {
    let d = Definitions::built_in();
    for target in catalogue().targets() {
        let compiled = d.compile(target).unwrap_or_else(|e| {
            panic!("{target}:\n{}", e.0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        });
        let used: BTreeSet<&str> =
            d.tables().iter().flat_map(|t| t.rows(target)).map(|r| r.metric.as_str()).collect();
        let with_needs = used.iter().filter(|m| !compiled.needs(m).is_empty()).count();
        assert!(with_needs > 100, "{target}: {with_needs} metrics can be computed");
    }
    let shown: BTreeSet<&str> = catalogue()
        .targets()
        .iter()
        .flat_map(|t| d.tables().iter().flat_map(move |table| table.rows(t)))
        .map(|r| r.metric.as_str())
        .collect();
    let hidden: Vec<&str> =
        d.metrics().iter().map(|m| m.id.as_str()).filter(|m| !shown.contains(m)).collect();
    assert_eq!(hidden, Vec::<&str>::new(), "metrics that no table shows");
}

#[test]
fn the_full_set_is_read_in_few_runs() {
    // Target, runs of rocprof-compute 3.3: recorded for gfx942; for the others its counters packed to the
    // limits of the blocks, two places of the sequencer for each level, which no plan can pass below.
    for (target, vendor) in [("gfx908", 10), ("gfx90a", 12), ("gfx942", 12), ("gfx950", 15)] {
        let compiled = Definitions::built_in().compile(target).unwrap();
        let mut needs: Vec<Need> = Vec::new();
        for t in Definitions::built_in().tables() {
            for r in t.rows(target) {
                for n in compiled.needs(&r.metric) {
                    if !needs.contains(&n) {
                        needs.push(n);
                    }
                }
            }
        }
        let p = plan(catalogue(), target, &needs).unwrap();
        println!("{target}: {} needs in {} runs, {vendor} of the vendor", needs.len(), p.passes.len());
        assert!(p.passes.len() <= vendor, "{target}: {}", p.passes.len());
        assert_eq!(p, plan(catalogue(), target, &needs).unwrap());
        for pass in &p.passes {
            let mut taken = vec![0; catalogue().blocks().len()];
            for name in &pass.counters {
                taken[catalogue().find(name).unwrap().definition.block] += 1;
            }
            for (block, taken) in catalogue().blocks().iter().zip(taken) {
                assert!(taken <= block.limit, "{target}: {taken} of {} in {pass:?}", block.name);
            }
        }
    }
}

/// Rows whose label or place differs from the vendor's on purpose.
const OTHER_LABEL: &[(&str, &str)] = &[("Bypasss Req", "Bypass Req")];

/// Units of the vendor that say something else than ours: table, metric, theirs, reason.
const OTHER_UNIT: &[(&str, &str, &str)] = &[
    ("1101", "GFLOP", "a rate"),
    ("1101", "GIOP", "a rate"),
    ("1702", "(Bytes + $normUnit)", "a rate on every target here"),
    ("1603", "(Cycles + $normUnit)", "a latency on every target here"),
];

#[test]
fn rows_and_units_stand_where_users_know_them() {
    let Some(path) = testkit::shared("facts/metrics.tsv") else { return };
    let text = std::fs::read_to_string(path).unwrap();
    // (table, target) -> row -> label; and units
    let mut labels: BTreeMap<(u16, String), BTreeMap<usize, String>> = BTreeMap::new();
    let mut units: BTreeMap<(u16, String, String), String> = BTreeMap::new();
    for line in text.lines().filter(|l| !l.starts_with('#')) {
        let f: Vec<&str> = line.split('\t').collect();
        let id: u16 = f[0].parse().unwrap();
        if id >= 1801 {
            continue;
        }
        for place in f[4].split(' ') {
            let (target, row) = place.split_once(':').unwrap();
            let label = OTHER_LABEL.iter().find(|(t, _)| *t == f[1]).map_or(f[1], |(_, o)| o);
            labels
                .entry((id, target.to_string()))
                .or_default()
                .insert(row.parse().unwrap(), label.to_string());
            if f[2] == "unit" || f[2] == "units" {
                units.insert((id, target.to_string(), label.to_string()), f[3].to_string());
            }
        }
    }
    let d = Definitions::built_in();
    let mut wrong = Vec::new();
    let mut rows = 0;
    for ((id, target), theirs) in &labels {
        let Some(t) = d.table((id / 100, id % 100)) else {
            wrong.push(format!("no table {id}"));
            continue;
        };
        let ours: Vec<&str> = t.rows(target).map(|r| r.label.as_str()).collect();
        let theirs: Vec<&str> = theirs.values().map(String::as_str).collect();
        if ours != theirs {
            wrong.push(format!("{id} {target}:\n  ours   {ours:?}\n  theirs {theirs:?}"));
        }
        for r in t.rows(target) {
            rows += 1;
            let Some(theirs) = units.get(&(*id, target.clone(), r.label.clone())) else { continue };
            let ours = &d.metric(&r.metric).unwrap().unit_text;
            if !same_unit(ours, theirs)
                && !OTHER_UNIT.iter().any(|(t, u, _)| *t == id.to_string() && u == theirs)
            {
                wrong.push(format!("{id} {target} {}: ours [{ours}], theirs `{theirs}`", r.label));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(rows > 1100, "{rows}");
}

/// Whether the vendor's name of a unit says what ours says.
fn same_unit(ours: &str, theirs: &str) -> bool {
    let (stem, norm) = match ours.strip_suffix("/norm") {
        Some(stem) => (stem, true),
        None => (ours, false),
    };
    let theirs = theirs.to_lowercase();
    let (word, per_norm) = match theirs.strip_prefix('(').and_then(|t| t.strip_suffix(" + $normunit)")) {
        Some(w) => (w.to_string(), true),
        None => (theirs, false),
    };
    let names: &[&str] = match stem {
        "%" => &["pct", "pct of peak"],
        "GB/s" => &["gb/s", "gbps"],
        "Gflop/s" => &["gflop/s"],
        "Gop/s" => &["giop/s"],
        "flop" | "op" => &["ops"],
        "instr" => &["instr", "instructions"],
        "req" => &["req"],
        "hit" => &["hits", "req"],
        "miss" => &["misses", "req"],
        "access" => &["accesses"],
        "line" => &["cachelines"],
        "cycle" => &["cycles", "cycle"],
        "ns" => &["ns"],
        "CU" => &["cus"],
        "thread" => &["threads"],
        "wave" => &["wavefronts", "wave"],
        "workgroup" => &["workgroups"],
        "item" => &["work items"],
        "register" => &["registers"],
        "B" => &["bytes"],
        "B/item" => &["bytes/workitem"],
        "cycle/wave" => &["cycles/wave"],
        "cycle/instr" => &["cycles/instr"],
        "instr/wave" => &["instr/wavefront"],
        "instr/cycle" => &["instr/cycle"],
        "conflict/access" => &["conflicts/access"],
        _ => return false,
    };
    norm == per_norm && names.contains(&word.as_str())
}

fn user(text: &str) -> Result<Definitions, Vec<String>> {
    let strings =
        |e: rockhound_metrics::WrongDefinitions| e.0.iter().map(ToString::to_string).collect::<Vec<_>>();
    let d = Definitions::built_in().clone().with(&[("mine.metrics", text)]).map_err(strings)?;
    d.compile("gfx90a").map_err(strings)?;
    Ok(d)
}

#[test]
fn wrong_files_do_not_load_and_say_where() {
    for text in [
        "metric my.a [%] = SQ_WAVEZ / SQ_WAVES",
        "metric my.a [%] = nonsense / SQ_WAVES",
        "metric my.a [%] = system(1)",
        "metric my.a [furlong] = 1",
        "metric my.a [GB/s] = TCC_REQ / time",
        "metric my.a [req] = TCC_REQ + SQ_WAVES",
        "metric my.a [1] = 1 - TCC_REQ / 1[req]",
        "metric my.a [req*req] = TCC_REQ * TCC_REQ",
        "metric my.a [%/norm] = TCC_HIT / TCC_REQ",
        "metric my.a [%] = my.a + 1",
        "metric my.a [%] = 1\n    peak = SQ_WAVES / SQ_WAVES",
        "metric my.a [%] = 1\nmetric my.a [%] = 2",
        "metric my.a [%] = 1\n    on gfx1 = 2",
        "    row \"x\" l2.hit_rate",
        "table 30.1 stats \"Mine\" \"Mine\"\n    row \"x\" my.b",
        "table 30.1 pretty \"Mine\" \"Mine\"",
        "import os",
        "metric my.a [%] = (1\nmetric my.b [%] = 1 +\nmetric my.c = 1",
    ] {
        testkit::golden(&format!("{text:?}"), &user(text).unwrap_err().join("\n"));
    }
}

fn made(rows: &str) -> Workload {
    made_with(rows, None)
}

fn made_with(rows: &str, marks: Option<&str>) -> Workload {
    let text = format!(
        "Dispatch_ID,Kernel_Name,Grid_Size,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT_sum,TCC_MISS_sum,TCC_REQ_sum\n{rows}"
    );
    let mut folder = BTreeMap::from([
        ("pmc_perf.csv".to_string(), text.into_bytes()),
        (
            "sysinfo.csv".to_string(),
            b"gpu_arch,cu_per_gpu,num_xcd,max_sclk,total_l2_chan\ngfx90a,104,1,1700,32\n".to_vec(),
        ),
    ]);
    folder.extend(marks.map(|text| ("pmc_marks.csv".to_string(), text.as_bytes().to_vec())));
    workload::read(&folder, &Options::default()).unwrap()
}

#[test]
fn a_rate_of_nothing_is_as_sure_as_its_count() {
    let marks = "Quantity,Mark,Error_Percent\nSQ_WAVES,exact,\nTCC_HIT,modelled,3\nTCC_MISS,modelled,4\n\
                 TCC_REQ,exact,\ntime,modelled,20\n";
    let definitions = user(
        "metric my.waves [wave/s] = SQ_WAVES / dispatch.time\n\
         metric my.both [1/s] = (SQ_WAVES / 1[wave] + TCC_REQ / 1[req]) / dispatch.time\n\
         metric my.product [wave] = SQ_WAVES * TCC_HIT / TCC_MISS\n\
         metric my.hits [req/s] = TCC_HIT / dispatch.time\n",
    );
    let compiled = definitions.unwrap().compile("gfx90a").unwrap();
    for (row, metric, trust) in [
        ("2,9,1,10", "my.waves", "modelled ±20 %"),
        ("0,9,1,10", "my.waves", "exact"),
        ("0,9,1,10", "my.both", "modelled ±20 %"),
        ("0,0,0,0", "my.both", "exact"),
        ("0,9,1,10", "my.product", "exact"),
        // That nothing hits is modelled itself.
        ("2,0,1,10", "my.hits", "modelled ±20 %"),
        ("2,0,1,10", "my.product", "modelled ±4 %"),
    ] {
        let w = made_with(&format!("0,k,64,0,10,{row}\n"), Some(marks));
        let e = Evaluation::new(&compiled, &w, vec![0], Settings::default());
        let found = e.trust(metric, &e.value(metric)).unwrap().unwrap();
        assert_eq!(found.to_string(), trust, "{metric} of {row}");
    }
}

#[test]
fn zeros_that_were_compared_are_trusted_as_zeros_only() {
    let marks = "Quantity,Mark,Error_Percent\nTCC_HIT,zero,\nTCC_MISS,modelled,4\nTCC_REQ,modelled,\ntime,modelled,20\n";
    let definitions = user(
        "metric my.all [req] = TCC_HIT + TCC_MISS\n\
         metric my.each [req] = TCC_HIT + TCC_REQ\n",
    );
    let compiled = definitions.unwrap().compile("gfx90a").unwrap();
    for (row, metric, trust) in [
        ("2,0,9,9", "my.all", "modelled ±4 %"),
        ("2,1,9,9", "my.all", "modelled"),
        ("2,0,9,9", "my.each", "modelled"),
        ("2,0,9,0", "my.each", "modelled"),
    ] {
        let w = made_with(&format!("0,k,64,0,10,{row}\n"), Some(marks));
        let e = Evaluation::new(&compiled, &w, vec![0], Settings::default());
        let found = e.trust(metric, &e.value(metric)).unwrap().unwrap();
        assert_eq!(found.to_string(), trust, "{metric} of {row}");
    }
}

#[test]
fn averages_weigh_or_do_not() {
    // Hit rates 90 % of 100 requests in 10 ns and 50 % of 300 in 40 ns.
    let w = made("0,k,64,0,10,2,90,10,100\n1,k,192,100,140,6,150,150,300\n");
    let compiled = Definitions::built_in().compile("gfx90a").unwrap();
    let value = |average, norm, metric: &str| {
        Evaluation::new(&compiled, &w, vec![0, 1], Settings { average, norm, ..Settings::default() })
            .value(metric)
            .map_err(|m| m.to_string())
    };
    use Average::{Dispatches, Weighted};
    for (average, norm, metric, want) in [
        (Dispatches, Norm::Kernel, "l2.hit_rate", 70.0),
        (Weighted, Norm::Kernel, "l2.hit_rate", 60.0),
        (Dispatches, Norm::Kernel, "l2.requests", 200.0),
        (Weighted, Norm::Kernel, "l2.requests", 200.0),
        (Dispatches, Norm::Wave, "l2.requests", 50.0),
        (Weighted, Norm::Wave, "l2.requests", 50.0),
        (Dispatches, Norm::Second, "l2.requests", 8.75e9),
        (Weighted, Norm::Second, "l2.requests", 8e9),
        (Dispatches, Norm::Kernel, "l2.bandwidth", 1120.0),
        (Weighted, Norm::Kernel, "l2.bandwidth", 1024.0),
        (Weighted, Norm::Kernel, "dispatch.grid_size", 128.0),
        (Weighted, Norm::Second, "dispatch.duration", 25.0),
    ] {
        let got = value(average, norm, metric).unwrap();
        assert!((got - want).abs() < 1e-9 * want, "{average:?} {norm:?} {metric}: {got}, not {want}");
    }
    let e = Evaluation::new(&compiled, &w, vec![0, 1], Settings::default());
    assert_eq!(e.extremes("l2.hit_rate"), (Ok(50.0), Ok(90.0)));
    assert_eq!(e.quartiles("l2.hit_rate", 0).unwrap(), [50.0, 60.0, 70.0, 80.0, 90.0]);
    assert_eq!(e.dispatches("l2.hit_rate").unwrap(), [Some(90.0), Some(50.0)]);
}

#[test]
fn missing_values_have_reasons() {
    let w = made("0,k,64,0,10,2,0,0,100\n1,k,64,5,5,0,0,0,100\n");
    let compiled = Definitions::built_in().compile("gfx90a").unwrap();
    let e = |rows: Vec<u32>| Evaluation::new(&compiled, &w, rows, Settings::default());
    for (rows, metric) in [
        (vec![0, 1], "l2.hit_rate"),
        (vec![1], "l2.bandwidth"),
        (vec![0], "issue.ipc"),
        (vec![0], "wave.occupancy"),
        (vec![0], "dispatch.vgpr_count"),
        (vec![0], "gpu.hbm_bandwidth"),
        (vec![0], "compute.matrix_f8"),
        (vec![0], "channel.reads_128"),
        (vec![0], "channel.reads"),
        (vec![], "l2.requests"),
        (vec![7], "l2.requests"),
        (vec![0], "l2.nonsense"),
    ] {
        let section = format!("{metric} of rows {rows:?}");
        testkit::golden(&section, &e(rows).value(metric).unwrap_err().to_string());
    }
    // Half a recording still gives the half: the dispatch without a time is left out of the rate alone.
    assert_eq!(e(vec![0, 1]).value("l2.bandwidth"), Ok(1280.0));
    assert_eq!(e(vec![0, 1]).value("l2.requests"), Ok(100.0));
}

#[test]
fn users_add_metrics_and_tables() {
    let d = user(
        "let half = TCC_REQ / 2\n\
         metric my.half [req/norm] = half\n    on gfx942 none \"not there\"\n\
         table 30.1 stats \"Mine\" \"Halves\"\n    row \"Half\" my.half\n",
    )
    .unwrap();
    let w = made("0,k,64,0,10,2,90,10,100\n");
    let compiled = d.compile("gfx90a").unwrap();
    let settings = Settings { norm: Norm::Wave, ..Settings::default() };
    let t =
        table(&d, d.table((30, 1)).unwrap(), &Evaluation::new(&compiled, &w, vec![0], settings), settings);
    assert_eq!((t.style, t.rows.len(), t.rows[0].unit.as_str()), (Style::Stats, 1, "req per wave"));
    assert_eq!(t.rows[0].cells, [Some(Ok(25.0)), Some(Ok(25.0)), Some(Ok(25.0))]);
    let m = d.metric("my.half").unwrap();
    assert_eq!((m.formula("gfx90a"), m.formula("gfx942")), (Ok("half"), Err("not there")));
    assert_eq!(compiled.needs("my.half"), [Need::Counter("TCC_REQ".into())]);
}

/// A dispatch in passes of the application: time in ns, then counters.
fn passes(list: &[(u32, &[(&str, f64)])]) -> Workload {
    let mut csv =
        "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n".to_owned();
    for (pass, (time, counters)) in list.iter().enumerate() {
        let start = 1000 * (pass + 1);
        for (name, value) in *counters {
            csv += &format!("1,copy,{start},{},{name},{value}\n", start + *time as usize);
        }
    }
    let sysinfo = "gpu_arch,cu_per_gpu,num_xcd,max_sclk\ngfx942,10,8,2000\n";
    let folder = std::collections::BTreeMap::from([
        ("pmc_perf.csv".to_owned(), csv.into_bytes()),
        ("sysinfo.csv".to_owned(), sysinfo.as_bytes().to_vec()),
    ]);
    workload::read(&folder, &workload::Options::default()).unwrap()
}

#[test]
fn judgement_takes_the_time_of_the_pass_at_the_clock_of_the_engine() {
    let compiled = Definitions::built_in().compile("gfx942").unwrap();
    let of = |list: &[(u32, &[(&str, f64)])], metric: &str| {
        let workload = passes(list);
        [Window::Recorded, Window::Dispatch].map(|window| {
            let settings = Settings { window, ..Settings::default() };
            Evaluation::new(&compiled, &workload, vec![0], settings)
                .value(metric)
                .map_err(|it| it.to_string())
        })
    };
    let (gui, busy) = ("GRBM_GUI_ACTIVE", "SQ_BUSY_CU_CYCLES");
    let (utilization, occupancy) = ("gpu.simd_utilization", "wave.occupancy");
    let level = ("SQ_LEVEL_WAVES_ACCUM", 1800.0);
    let close = |got: [Result<f64, String>; 2], want: [f64; 2]| {
        got.iter().zip(want).all(|(got, want)| got.as_ref().is_ok_and(|got| (got - want).abs() < 1e-9 * want))
    };
    // Two cycles a nanosecond at most, of 10 compute units.
    type Case<'a> = (&'a [(u32, &'a [(&'a str, f64)])], &'a str, [f64; 2]);
    let cases: &[Case<'_>] = &[
        // The window is 5 times the dispatch; the counter is of a pass that took longer.
        (&[(100, &[(gui, 8.0 * 1000.0)]), (110, &[(busy, 1100.0)])], utilization, [11.0, 50.0]),
        // The engine made one cycle a nanosecond.
        (&[(100, &[(gui, 8.0 * 100.0)]), (110, &[(busy, 1100.0)])], utilization, [110.0, 100.0]),
        // The pass has its own window, shorter than the time at the highest clock.
        (&[(100, &[(gui, 8.0 * 1000.0)]), (120, &[(gui, 8.0 * 180.0), level])], occupancy, [10.0, 10.0]),
        // It has none: its time is used instead, also in tables.
        (&[(100, &[(gui, 8.0 * 1000.0)]), (120, &[level])], occupancy, [7.5, 7.5]),
    ];
    for (list, metric, want) in cases {
        let got = of(list, metric);
        assert!(close(got.clone(), *want), "{list:?}: {got:?}, not {want:?}");
    }
    // So it is where the passes were joined into one file.
    let joined = "Dispatch_ID,Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,GRBM_GUI_ACTIVE,Kernel_ID_1,SQ_LEVEL_WAVES,SQ_ACCUM_PREV_HIRES\n1,a,1000,1120,1,8000,1,5,1800\n";
    let folder = std::collections::BTreeMap::from([
        ("pmc_perf.csv".to_owned(), joined.as_bytes().to_vec()),
        ("sysinfo.csv".to_owned(), b"gpu_arch,cu_per_gpu,num_xcd,max_sclk\ngfx942,10,8,2000\n".to_vec()),
    ]);
    let workload = workload::read(&folder, &workload::Options::default()).unwrap();
    for window in [Window::Recorded, Window::Dispatch] {
        let settings = Settings { window, ..Settings::default() };
        let got = Evaluation::new(&compiled, &workload, vec![0], settings).value(occupancy);
        assert!(got.as_ref().is_ok_and(|got| (got - 7.5).abs() < 1e-9), "{got:?}");
    }
    let needs = "needs GRBM_GUI_ACTIVE: not recorded".to_owned();
    assert_eq!(of(&[(110, &[(busy, 1100.0)])], utilization), [Err(needs.clone()), Err(needs)]);
    let [recorded, judged] = of(&[(0, &[(gui, 8000.0), (busy, 1100.0)])], utilization);
    assert!(recorded.is_ok(), "{recorded:?}");
    assert!(judged.is_err(), "no durations: {judged:?}");
}

#[test]
fn the_table_of_channels_adds_up_its_own_channels() {
    // The sums were read in another pass, in which the cache hit more.
    let channels = |name: &str| (0..32).map(|i| format!(",{name}[{i}]")).collect::<String>();
    let header = format!(
        "Dispatch_ID,Kernel_Name,TCC_HIT_sum,TCC_MISS_sum{}{}\n",
        channels("TCC_HIT"),
        channels("TCC_MISS")
    );
    let row = format!("0,a,90,10{}{}\n", ",1".repeat(32), ",3".repeat(32));
    for (target, folder, want) in [
        ("gfx90a", format!("{header}{row}"), 25.0),
        ("gfx942", format!("{header}{row}"), 90.0),
        ("gfx90a", "Dispatch_ID,Kernel_Name,TCC_HIT_sum,TCC_MISS_sum\n0,a,90,10\n".to_owned(), 90.0),
    ] {
        let facts = format!("gpu_arch,total_l2_chan,num_xcd\n{target},32,1\n");
        let files = std::collections::BTreeMap::from([
            ("pmc_perf.csv".to_owned(), folder.into_bytes()),
            ("sysinfo.csv".to_owned(), facts.into_bytes()),
        ]);
        let workload = workload::read(&files, &workload::Options::default()).unwrap();
        let compiled = Definitions::built_in().compile(target).unwrap();
        let evaluation = Evaluation::new(&compiled, &workload, vec![0], Settings::default());
        assert_eq!(evaluation.value("channel.mean_hit_rate"), Ok(want), "{target}");
        assert_eq!(evaluation.value("l2.hit_rate"), Ok(90.0), "{target}");
    }
}
