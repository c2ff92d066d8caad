//! A program with autotuned Triton kernels, searched as it runs.

use super::telling::Telling;
use super::{add, strategy};
use crate::args::Tune;
use crate::progress::Running;
use anyhow::Result;
use host::run::{Ended, Place};
use host::tune::{self, Limits, LiveRequest, LiveStudy};
use view::{Answer, Input, NamedValue, NoteKind, Searches};

/// Runs the program and adds a search for each kernel and key.
pub(super) fn run(args: &Tune, running: &Running<'_>, answer: &mut Answer<Searches>) -> Result<()> {
    let words: Vec<String> =
        args.program.iter().map(|it| view::shell_word(&it.to_string_lossy()).into_owned()).collect();
    let cores = std::thread::available_parallelism().map_or(1, |it| it.get() as u32);
    let request = LiveRequest {
        program: args.program.clone(),
        place: Place::from(args.on),
        gpu: args.gpu.clone(),
        widen: args.widen,
        budget: &|configurations| args.budget.of(configurations).min(configurations),
        strategy: strategy(args.strategy),
        seed: args.seed,
        workers: args.jobs.map_or(cores, u32::from).max(1),
        proof: !args.no_proof,
        limits: Limits::default(),
    };
    let telling = Telling::new("tune", 0);
    let live = tune::live(&request, &telling, running);
    telling.finish();
    let live = live?;
    let mut input = Input::new("program", words.join(" "), "program with autotuned kernels");
    input.used = view::counted(live.studies.len(), "kernel and key");
    answer.inputs.push(input);
    match live.ended {
        Ended::Well | Ended::InPart | Ended::Differs => {}
        Ended::Program(code) => {
            answer.note(NoteKind::Error, format!("the program ended with code {code}"));
        }
        Ended::Interrupted => answer.note(NoteKind::Warning, "interrupted: later kernels were not searched"),
    }
    if live.studies.is_empty() {
        answer.note(
            NoteKind::Error,
            "no autotuned kernel was called: `tune -- PROGRAM` searches kernels with `@triton.autotune`; a space file takes others (`rockhound tune --init SOURCE`)",
        );
    }
    for study in &live.studies {
        one(args, study, answer);
    }
    for patch in tune::patches(&live.studies, &|path| std::fs::read_to_string(path).ok()) {
        if let Some(last) = answer.part.searches.last_mut() {
            last.outputs.push(NamedValue::new("patch", patch.text));
        }
    }
    Ok(())
}

fn one(args: &Tune, study: &LiveStudy, answer: &mut Answer<Searches>) {
    let name = format!("{} ({})", study.kernel, study.key);
    let objective = if study.modelled {
        "modelled time of the kernel on an emulated GPU"
    } else {
        "time of the kernel on the GPU of this machine (do_bench)"
    };
    for it in &study.left_out {
        answer.note(
            NoteKind::Info,
            format!("{name}: {} left out: {}", view::counted(it.configurations, "configuration"), it.why),
        );
    }
    if study.unfinished {
        answer.note(NoteKind::Warning, format!("{name}: the program ended before the search"));
    }
    add(answer, args, (&name, objective), &study.space, &study.attempts, (study.start, study.proof.clone()));
    if let Some(search) = answer.part.searches.last_mut() {
        search.outputs.clear();
        if let Some(config) = study.winner_config() {
            search.outputs.push(NamedValue::new("config", config));
        }
        if let Some(cache) = &study.cache {
            search
                .outputs
                .push(NamedValue::new("cache", format!("{}: {}", cache.place.display(), cache.text)));
        }
    }
}
