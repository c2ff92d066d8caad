//! `rockhound doctor`: machines, environments and commands, checked.

mod change;
mod conditions;
mod inputs;

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Doctor as Arguments, Look, Work};
use crate::exit::{Outcome, usage};
use crate::gate;
use anyhow::Result;
use inputs::Subject;
use study::Judges;
use system::command::Command;
use view::{Examined, Profile};

/// Answers.
pub(crate) fn run(args: &Arguments, look: &Look) -> Result<Outcome> {
    let mut conditions = conditions::parse(&args.fail_on)?;
    if conditions.is_empty() && args.memory.baseline.is_some() {
        conditions = conditions::parse(&["warn".to_owned()])?;
    }
    let mut gated = gate::open("doctor", Judges::Machines, &[], &args.memory)?;
    let profile = args.profile.map(profile);
    if args.reset {
        return change::reset(args);
    }
    if args.capture.is_some() {
        return change::capture(args);
    }
    let (subjects, errors) = inputs::subjects(args)?;
    if args.fix || args.emit.is_some() {
        let [subject] = &subjects[..] else {
            return Err(usage(
                format!("one machine is needed, {} are given", subjects.len()),
                "give one bundle, or none for this machine",
            ));
        };
        return match args.emit {
            Some(form) => change::emit(args, subject, profile, form),
            None => change::fix(args, subject, &examine(subject, args, profile), profile),
        };
    }
    let mut machines: Vec<Examined> =
        subjects.iter().map(|subject| examine(subject, args, profile)).collect();
    let odd = if args.compare { study::doctor::compare(&machines) } else { Vec::new() };
    for machine in &mut machines {
        machine.checks.iter_mut().for_each(|check| gated.gate.check(&machine.name, check));
    }
    let mut doctor = study::doctor::answer(machines, odd, profile, errors);
    doctor.gate = gated.gate.summary();
    let target = Target { format: args.format, output: args.output.as_deref(), decimals: DECIMALS, look };
    answer::write(&doctor, &target)?;
    if args.compare && doctor.part.odd.is_empty() && doctor.errors.is_empty() {
        eprintln!("note: all {} machines are the same", doctor.part.machines.len());
    }
    let met = conditions::verdicts(&conditions, &doctor.part);
    for verdict in &met {
        eprintln!("{verdict}");
    }
    gated.close(!doctor.errors.is_empty())?;
    Ok(answer::end(&doctor, !met.is_empty()))
}

fn examine(subject: &Subject, args: &Arguments, profile: Option<Profile>) -> Examined {
    let given = (!args.command.is_empty()).then(|| Command::parse(&args.command));
    let command = given.or_else(|| subject.command.clone());
    let machine = study::doctor::for_command(&subject.machine, command.as_ref());
    let mut examined = study::doctor::examine(&machine, command.as_ref(), profile);
    if args.env || args.pid.is_some() || subject.program_only {
        study::doctor::keep_environment(&mut examined);
    }
    examined.notes.clone_from(&subject.notes);
    if let Some(program) = command.as_ref().and_then(|it| it.isolated_by.as_ref()) {
        examined.notes.push(format!(
            "the job runs in {program}: its environment is what the command sets; what the image sets is not known (`docker inspect`, or `env` in it, says)"
        ));
    }
    if subject.program_only && !args.env {
        examined
            .notes
            .push("the input says nothing of a machine: only environment and program are checked".to_owned());
    }
    examined
}

fn profile(work: Work) -> Profile {
    match work {
        Work::Benchmark => Profile::Benchmark,
        Work::Training => Profile::Training,
        Work::Inference => Profile::Inference,
        Work::Debug => Profile::Debug,
        Work::Distributed => Profile::Distributed,
    }
}
