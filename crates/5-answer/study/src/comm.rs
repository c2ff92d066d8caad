//! Answers of `rockhound comm` about tests, logs, topologies and copies between GPUs.

use crate::tables::compare::compare;
use crate::tables::rows::{count, cut, missing, number, push, table, text};
use ::trace::comm::{Bandwidths, CommFile, CommLog, Measured, NpkitDump, RcclTest, Topology};
use rules::{CommEvidence, board, expected_bus};
use view::ColumnKind::{Number, Text};
use view::{Answer, COMM_SCHEMA, Input, Note, NoteKind, Plain, Row, Table};

/// Answers about files, each with its name; of a comparison the first is the base.
pub fn survey(files: &[(String, CommFile)], compared: bool, top: usize) -> Answer {
    let judged = if compared { files.get(1..).unwrap_or(&[]) } else { files };
    let mut survey = Answer::new(COMM_SCHEMA, Plain {});
    survey.inputs = files.iter().map(|(name, file)| input(name, file)).collect();
    (survey.findings, survey.not_checked) = rules::check_comm(&CommEvidence { files: judged });
    for (name, file) in files {
        notes(&mut survey.notes, name, file);
    }
    survey.tables = match files {
        [(_, base), (_, new), ..] if compared => compare(&tables(base), &tables(new)),
        files => {
            let mut all: Vec<Table> = runs(files).into_iter().collect();
            let several = files.len() > 1;
            for (at, (name, file)) in files.iter().enumerate() {
                all.extend(tables(file).into_iter().map(|mut t| {
                    if several {
                        t.id = format!("{}.{at}", t.id);
                        t.title = format!("{}: {name}", t.title);
                    }
                    t
                }));
            }
            all
        }
    };
    survey.tables.retain(|t| !t.rows.is_empty());
    survey.tables.iter_mut().for_each(|t| cut(t, top));
    survey
}

fn input(name: &str, file: &CommFile) -> Input {
    let kind = match file {
        CommFile::Test(..) => "rccl-tests",
        CommFile::Log(_) => "NCCL_DEBUG log",
        CommFile::Topology(_) => "topology",
        CommFile::Bandwidths(_) => "copies between devices",
        CommFile::Npkit(_) => "NPKit dump",
    };
    let short = name.rsplit('/').next().unwrap_or(name).to_owned();
    let mut input = Input::new(short, name, kind);
    match file {
        CommFile::Test(test, _) => test_facts(&mut input, test),
        CommFile::Log(log) => log_facts(&mut input, log),
        CommFile::Topology(it) => {
            let gpu = it.gpus.first();
            let target = gpu.map_or_else(String::new, |gpu| {
                format!("{}, {} CUs", target(&gpu.target), gpu.compute_units)
            });
            let mesh =
                if it.is_full_mesh() { "each linked to each other" } else { "not all linked to each other" };
            input.fact("GPUs", format!("{} ({target}), {mesh}, {} link ends", it.gpus.len(), it.links()));
            input.fact("network", format!("{} ports", it.nets.len()));
        }
        CommFile::Npkit(it) => {
            let ranks: std::collections::BTreeSet<u32> = it.spans.iter().map(|span| span.rank).collect();
            input.fact(
                "contents",
                format!("{} spans of {} ranks in {} files", it.spans.len(), ranks.len(), it.files),
            );
        }
        CommFile::Bandwidths(it) => {
            input.fact("tool", it.tool.clone());
            if !it.pair.is_empty() {
                input.fact("pair", it.pair.clone());
            }
        }
    }
    input
}

/// A target as RCCL writes it: a name, or in older versions a number, where 910 is the second generation.
fn target(written: &str) -> String {
    let number = if written == "910" { "90a" } else { written };
    let known = arch::Target::names().find(|name| name.trim_start_matches(char::is_alphabetic) == number);
    known.unwrap_or(written).to_owned()
}

fn test_facts(input: &mut Input, test: &RcclTest) {
    let gpu = test.ranks.first().map_or("", |(_, _, gpu)| gpu.as_str());
    let hosts = test.hosts().len();
    let collective = match (&test.collective, test.named) {
        (Some(name), true) => name.clone(),
        (Some(name), false) => format!("{name}, by its factor: the file does not name it"),
        (None, _) => "not named by the file, and its factor leaves several".to_owned(),
    };
    input.fact("collective", collective);
    input.fact(
        "ranks",
        format!(
            "{} on {}, {}, {gpu}",
            test.rank_count(),
            view::counted(hosts, "host"),
            view::counted(test.processes(), "process")
        ),
    );
    for (name, value) in &test.banner {
        input.fact(name, value.clone());
    }
    if let Some((low, high, what)) = expected_bus(test) {
        input.fact("reachable", format!("{low:.0} to {high:.0} GB/s by {what}"));
    }
    let of_nodes = |gib: u64| {
        let collective = test.collective.as_deref().filter(|_| hosts > 1)?;
        let wanted = arch::fabric::wanted_of_nodes(collective, test.rank_count(), gib << 30)?;
        Some(format!("{wanted:.0} GB/s at {gib} GiB"))
    };
    let wanted: Vec<String> = [8, 16].into_iter().filter_map(of_nodes).collect();
    if !wanted.is_empty() {
        input.fact("wanted", format!("{}, of {hosts} nodes", wanted.join(", ")));
    }
}

fn log_facts(input: &mut Input, log: &CommLog) {
    if let Some(version) = &log.version {
        input.fact("version", version.clone());
    }
    let hosts = log.hosts.len();
    input.fact(
        "ranks",
        format!("{} of {} began, {} completed, {hosts} hosts", log.started.len(), log.ranks, log.completed),
    );
    input.fact("channels", log.channels.to_string());
    if !log.networks.is_empty() {
        input.fact("network", log.networks.iter().cloned().collect::<Vec<_>>().join(", "));
    }
}

fn notes(out: &mut Vec<Note>, name: &str, file: &CommFile) {
    let mut add = |kind, text: String| out.push(Note { kind, text: format!("{name}: {text}") });
    if let CommFile::Npkit(dump) = file {
        if dump.unpaired > 0 {
            add(NoteKind::Warning, format!("{} events have no partner and are left out", dump.unpaired));
        }
        add(NoteKind::Info, "sizes are counted modulo 4 GiB".to_owned());
    }
    let CommFile::Test(test, _) = file else { return };
    if let Some(line) = test.broken.first() {
        add(
            NoteKind::Error,
            format!("line {line}: a row is cut off; the {} whole rows are read", test.rows.len()),
        );
    }
    if test.average.is_none() && !test.rows.is_empty() {
        let text = format!("the run did not end: {} whole rows, no trailer", test.rows.len());
        add(NoteKind::Error, text);
    }
    if let Some(average) = test.average {
        let text = format!(
            "the printed average of {average} GB/s is not judged: it mixes sizes that show latency with sizes that show bandwidth"
        );
        add(NoteKind::Info, text);
    }
}

/// One row per run.
fn runs(files: &[(String, CommFile)]) -> Option<Table> {
    let columns = [
        ("collective", Text, ""),
        ("ranks", Number, ""),
        ("best bus", Number, "GB/s"),
        ("at bytes", Number, ""),
        ("smallest", Number, "us"),
        ("wrong", Number, ""),
    ];
    let mut t = table("1.1", "tests", "Runs", "file", &columns);
    for (name, file) in files {
        let CommFile::Test(test, _) = file else { continue };
        let best = test.best();
        let none = || missing("the run has no row");
        let times = test.rows.iter().flat_map(|row| [Some(row.out_of_place), row.in_place]);
        let smallest = times.flatten().map(|cell| cell.time_us).fold(f64::INFINITY, f64::min);
        let cells = vec![
            text(test.collective.clone().unwrap_or_default()),
            count(test.rank_count()),
            best.map_or_else(none, |(bus, _)| number(bus)),
            best.map_or_else(none, |(_, bytes)| count(bytes)),
            if smallest.is_finite() { number(smallest) } else { none() },
            test.wrong().map_or_else(|| missing("results were not checked"), count),
        ];
        push(&mut t, name.rsplit('/').next().unwrap_or(name), cells);
    }
    (t.rows.len() > 1).then_some(t)
}

fn tables(file: &CommFile) -> Vec<Table> {
    match file {
        CommFile::Test(test, log) => {
            let mut all = vec![sizes(test)];
            all.extend(log_tables(log));
            all
        }
        CommFile::Log(log) => log_tables(log),
        CommFile::Topology(it) => vec![topology(it)],
        CommFile::Bandwidths(it) => bandwidths(it),
        CommFile::Npkit(it) => vec![npkit(it)],
    }
}

fn sizes(test: &RcclTest) -> Table {
    let columns = [
        ("time", Number, "us"),
        ("bus", Number, "GB/s"),
        ("in place", Number, "us"),
        ("bus in place", Number, "GB/s"),
        ("good machine", Number, "GB/s"),
        ("wrong", Number, ""),
    ];
    let mut t = table("1.2", "tests", "Sizes", "bytes", &columns);
    let good = board(test).filter(|board| {
        test.collective.as_deref() == Some("all_reduce")
            && test.rank_count() == board.gpus
            && test.hosts().len() == 1
    });
    for row in &test.rows {
        let in_place = |value: fn(&Measured) -> f64| match &row.in_place {
            Some(cell) => number(value(cell)),
            None => missing("the row has no measurement in place"),
        };
        let expected = good.and_then(|board| arch::fabric::all_reduce_at(board.gpu, board.gpus, row.bytes));
        let wrong = [Some(row.out_of_place), row.in_place].into_iter().flatten().filter_map(|c| c.wrong);
        let wrong: Vec<u64> = wrong.collect();
        let cells = vec![
            number(row.out_of_place.time_us),
            number(row.out_of_place.bus),
            in_place(|cell| cell.time_us),
            in_place(|cell| cell.bus),
            expected
                .map_or_else(|| missing("no figure is known for this size, collective and board"), number),
            if wrong.is_empty() { missing("results were not checked") } else { count(wrong.iter().sum()) },
        ];
        push(&mut t, row.bytes.to_string(), cells);
    }
    t
}

fn log_tables(log: &CommLog) -> Vec<Table> {
    let counted = |id: &str, title: &str, label: &str, map: &std::collections::BTreeMap<String, u64>| {
        let mut t = table(id, "log", title, label, &[("count", Number, "")]);
        for (name, n) in map {
            push(&mut t, name.clone(), vec![count(*n)]);
        }
        t
    };
    let mut settings = table("2.2", "log", "Settings of the environment", "variable", &[("value", Text, "")]);
    for (name, value) in &log.settings {
        push(&mut settings, name.clone(), vec![text(value.clone())]);
    }
    let mut warnings =
        table("2.5", "log", "Warnings", "warning", &[("count", Number, ""), ("line", Number, "")]);
    for warning in &log.warnings {
        push(&mut warnings, warning.text.clone(), vec![count(warning.count), count(u64::from(warning.line))]);
    }
    vec![
        counted("2.1", "Connections by way", "way", &log.connections),
        settings,
        counted("2.3", "Calls", "collective", &log.calls),
        counted("2.4", "Algorithms and protocols", "algorithm, protocol", &log.protocols),
        warnings,
    ]
}

/// Reads the files of a folder that NPKit dumped, by name.
pub fn read_npkit(files: &std::collections::BTreeMap<String, Vec<u8>>) -> Result<CommFile, ::trace::Error> {
    NpkitDump::read(files, &arch::fabric::npkit_event).map(CommFile::Npkit)
}

/// Spans by rank and kind, with the rate of their bytes.
fn npkit(dump: &NpkitDump) -> Table {
    let columns = [
        ("rank", Number, ""),
        ("spans", Number, ""),
        ("total", Number, "us"),
        ("mean", Number, "us"),
        ("longest", Number, "us"),
        ("rate", Number, "GB/s"),
    ];
    let mut t = table("5.1", "NPKit", "Spans by kind", "kind", &columns);
    let mut sums: std::collections::BTreeMap<(&str, u32), (u64, f64, f64, f64)> = Default::default();
    for span in &dump.spans {
        let us = span.end_us - span.start_us;
        let sum = sums.entry((&span.kind, span.rank)).or_default();
        sum.0 += 1;
        sum.1 += us;
        sum.2 = sum.2.max(us);
        sum.3 += f64::from(span.bytes);
    }
    for ((kind, rank), (n, us, longest, bytes)) in sums {
        let rate = if us > 0.0 { number(bytes / us / 1e3) } else { missing("the spans have no duration") };
        let kind = kind.strip_prefix("NPKIT_EVENT_").unwrap_or(kind);
        let cells =
            vec![count(u64::from(rank)), count(n), number(us), number(us / n as f64), number(longest), rate];
        push(&mut t, kind, cells);
    }
    t
}

fn topology(it: &Topology) -> Table {
    let columns = [
        ("bus", Text, ""),
        ("NUMA", Text, ""),
        ("links", Number, ""),
        ("width", Number, ""),
        ("PCIe", Text, ""),
    ];
    let mut t = table("3.1", "topology", "GPUs", "GPU", &columns);
    for gpu in &it.gpus {
        let cells = vec![
            text(gpu.bus.clone()),
            text(gpu.numa.clone()),
            count(gpu.links.len() as u64),
            count(gpu.links.iter().map(|link| link.count).sum()),
            text(gpu.pcie.clone()),
        ];
        push(&mut t, gpu.device.to_string(), cells);
    }
    t
}

fn bandwidths(it: &Bandwidths) -> Vec<Table> {
    let mut all = Vec::new();
    for (at, matrix) in it.matrices.iter().enumerate() {
        let mut columns: Vec<(&str, view::ColumnKind, &str)> =
            matrix.columns.iter().map(|name| (name.as_str(), Number, "")).collect();
        columns.push(("slowest", Number, ""));
        let title = if matrix.title.is_empty() { "Copies" } else { &matrix.title };
        let mut t = table(&format!("4.{}", at + 1), "copies", title, "from", &columns);
        for (from, values) in &matrix.rows {
            let cell = |v: &Option<f64>| v.map_or_else(|| missing("the tool prints N/A"), number);
            let mut cells: Vec<view::Cell> = values.iter().map(cell).collect();
            let slowest = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
            cells.push(if slowest.is_finite() { number(slowest) } else { missing("the row has no value") });
            push(&mut t, from.clone(), cells);
        }
        if it.all_to_all {
            let all = matrix.rows.iter().flat_map(|(_, values)| values.iter().flatten());
            let slowest = all.copied().fold(f64::INFINITY, f64::min);
            let links = matrix.columns.len().saturating_sub(1);
            t.notes.push(format!(
                "the slowest link carries {slowest:.3} GB/s: collectives over all are bounded by {:.1} GB/s",
                slowest * links as f64
            ));
        }
        t.rows.iter_mut().for_each(|row| row.unit = "GB/s".to_owned());
        all.push(t);
    }
    let mut t = table("4.8", "copies", "Averages", "copies", &[("mean", Number, "GB/s")]);
    for (name, value) in &it.averages {
        push(&mut t, name.clone(), vec![number(*value)]);
    }
    all.push(t);
    let columns =
        [("rate", Number, "GB/s"), ("time", Number, "ms"), ("bytes", Number, ""), ("way", Text, "")];
    let mut t = table("4.9", "copies", "Transfers", "test", &columns);
    for it in &it.transfers {
        let cells = vec![number(it.gb_per_s), number(it.ms), count(it.bytes), text(it.way.clone())];
        push(&mut t, format!("{}: {}", it.test, it.what), cells);
    }
    all.push(t);
    let mut t =
        table("4.10", "copies", "Sizes", "bytes", &[("mean", Number, "GB/s"), ("best", Number, "GB/s")]);
    for size in &it.sizes {
        t.rows.push(Row {
            id: t.rows.len().to_string(),
            label: size.bytes.to_string(),
            cells: vec![number(size.mean), number(size.best)],
            ..Row::default()
        });
    }
    all.push(t);
    all
}
