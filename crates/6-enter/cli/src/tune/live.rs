//! `rockhound tune -- PROGRAM`: autotuned Triton kernels of a program that runs as it is.

use super::prior;
use super::telling::Telling;
use super::{Searched, add, strategy};
use crate::args::{Budget, Tune};
use crate::exit::usage;
use crate::progress::Running;
use anyhow::{Context, Result};
use host::run::{Ended, Place};
use host::tune::{self, Limits, LiveRequest, LiveStudy, Patch};
use std::path::Path;
use view::{Answer, Cell, Column, ColumnKind, FileError, Input, NamedValue, NoteKind, Row, Searches, Table};

/// Database of results of programs, in the current folder.
const OF_PROGRAMS: &str = "rockhound-tune.db";

pub(super) fn of_program(args: &Tune, running: &Running<'_>, answer: &mut Answer<Searches>) -> Result<()> {
    let place = Place::from(args.on);
    if place == Place::Gpu && args.gpu.is_some() {
        return Err(usage(
            "`--gpu` names a GPU to emulate, and `--on gpu` takes that of this machine",
            "leave one out",
        ));
    }
    let cores = std::thread::available_parallelism().map_or(1, |it| it.get() as u32);
    let budget = |configurations: u64| args.budget.of(configurations);
    let prior = prior::of_program(args)?;
    let request = LiveRequest {
        program: args.program.clone(),
        place,
        gpu: args.gpu.clone(),
        widen: args.widen,
        prior: prior.as_deref(),
        budget: &budget,
        strategy: strategy(args),
        seed: args.seed,
        workers: args.jobs.map_or(cores, u32::from),
        proof: !args.no_proof,
        limits: Limits::default(),
        limit: args.budget.limit(),
        store: Some(args.store.clone().unwrap_or_else(|| OF_PROGRAMS.to_owned())),
        fresh: args.fresh,
    };
    // How many runs a percentage means is known search by search.
    let runs = match args.budget {
        Budget::Runs(runs) => runs,
        Budget::Percent(_) | Budget::Time(_) => u64::MAX,
    };
    let telling = Telling::new("tune", runs);
    let live = tune::live(&request, &telling, running);
    telling.finish();
    let live = live?;
    let program = args.program.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let mut input = Input::new(&program, &program, "program");
    input.used = match live.studies.len() {
        1 => "1 search of an autotuned kernel and key".to_owned(),
        many => format!("{many} searches of autotuned kernels and keys"),
    };
    answer.inputs.push(input);
    let mut fail = |error: String, hint: &str| {
        answer.errors.push(FileError { file: program.clone(), error, hint: Some(hint.to_owned()) });
    };
    match live.ended {
        Ended::Well | Ended::Program(0) => {}
        Ended::Program(code) => fail(
            format!("it ended with code {code}"),
            "`rockhound run -- PROGRAM` shows what it does without a search",
        ),
        _ => fail(
            "it did not end well".to_owned(),
            "`rockhound run -- PROGRAM` shows what it does without a search",
        ),
    }
    if live.studies.is_empty() {
        fail(
            "it called no kernel with `@triton.autotune`".to_owned(),
            "a kernel without it has no configurations: a space file (`rockhound tune --init SOURCE`) gives it some",
        );
    }
    for study in &live.studies {
        of_study(answer, args, study);
    }
    write(args, &live.studies, answer)
}

fn of_study(answer: &mut Answer<Searches>, args: &Tune, study: &LiveStudy) {
    let name =
        if study.key.is_empty() { study.kernel.clone() } else { format!("{} ({})", study.kernel, study.key) };
    let objective = if study.modelled {
        "modelled time of the kernel on the emulated GPU"
    } else {
        "time on the GPU of this machine"
    };
    let what = Searched { name: &name, objective, of: &tune::Objective::default(), shapes: &[] };
    add(answer, args, &what, &study.space, &study.attempts, (study.start, study.proof.clone()));
    if let Some(search) = answer.part.searches.last_mut() {
        search.outputs = Vec::new();
        search.outputs.extend(study.winner_config().map(|it| NamedValue::new("configuration", it)));
        search.outputs.push(NamedValue::new("kernel", format!("{}:{}", study.file.display(), study.line)));
        search
            .outputs
            .extend(study.cache.iter().map(|it| NamedValue::new("cache", it.place.display().to_string())));
    }
    if study.expected > 0 {
        let (known, all) = (view::thousands(study.expected), view::thousands(study.space.len()));
        answer.note(
            NoteKind::Info,
            format!("{name}: expected times of {known} of {all} configurations: `tile`"),
        );
    }
    if study.earlier > 0 {
        let earlier = view::counted(study.earlier, "result");
        answer.note(NoteKind::Info, format!("{name}: {earlier} of earlier runs; `--fresh` runs all again"));
    }
    if study.unfinished {
        answer.note(NoteKind::Warning, format!("{name}: the program ended before its search did"));
    }
    if !study.left_out.is_empty() {
        let row =
            |it: &tune::LeftOut| Row::of(vec![Cell::count(it.configurations), Cell::text(it.why.clone())]);
        answer.tables.push(Table {
            title: format!("Configurations of {name} left out before the first run"),
            columns: vec![
                Column { key: "configurations", ..Column::new("configurations", ColumnKind::Number, "") },
                Column { key: "why", ..Column::new("why", ColumnKind::Text, "") },
            ],
            rows: study.left_out.iter().map(row).collect(),
            ..Table::default()
        });
    }
}

/// Writes what is asked for into a folder.
fn write(args: &Tune, studies: &[LiveStudy], answer: &mut Answer<Searches>) -> Result<()> {
    let Some(folder) = &args.write else { return Ok(()) };
    let put = |path: &Path, text: &str| {
        let parent = path.parent().map_or(Ok(()), std::fs::create_dir_all);
        parent
            .and_then(|()| std::fs::write(path, text))
            .with_context(|| format!("cannot write `{}`", path.display()))
    };
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let patches: Vec<Patch> = tune::patches(studies, &read);
    if !patches.is_empty() {
        let text: String = patches.iter().map(|it| it.text.as_str()).collect();
        put(&folder.join("winners.patch"), &text)?;
    }
    let lines = studies
        .iter()
        .filter_map(|it| Some(format!("# {} ({})\n{},\n", it.kernel, it.key, it.winner_config()?)));
    let lines: String = lines.collect();
    if !lines.is_empty() {
        put(&folder.join("configurations.py"), &format!("[\n{lines}]\n"))?;
    }
    for cache in studies.iter().filter_map(|it| it.cache.as_ref()) {
        put(&folder.join("triton-cache").join(&cache.place), &cache.text)?;
    }
    answer.note(
        NoteKind::Info,
        format!("patch, configurations and files for Triton's cache are in `{}`", folder.display()),
    );
    Ok(())
}
