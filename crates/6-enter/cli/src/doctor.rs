//! `rockhound doctor`: machines, environments and commands, checked.

mod change;
mod conditions;
mod inputs;

use crate::args::{Doctor as Arguments, DoctorFormat, Look, Work};
use crate::exit::{Outcome, usage};
use crate::output::Output;
use crate::terminal;
use anyhow::Result;
use inputs::Subject;
use render::{doctor as other_formats, json, text};
use rules::Profile;
use system::command::Command;
use view::{DOCTOR_SCHEMA, Doctor, Examined};

/// Answers.
pub(crate) fn run(args: &Arguments, look: &Look) -> Result<Outcome> {
    let conditions = conditions::parse(&args.fail_on)?;
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
    let machines: Vec<Examined> = subjects.iter().map(|subject| examine(subject, args, profile)).collect();
    let odd = if args.compare { study::doctor::compare(&machines) } else { Vec::new() };
    let doctor =
        Doctor { schema: DOCTOR_SCHEMA, profile: profile.map(Profile::as_str), machines, odd, errors };
    write(&doctor, args, look)?;
    for error in &doctor.errors {
        eprintln!("error: {}", error.error);
    }
    if args.compare && doctor.odd.is_empty() && doctor.errors.is_empty() {
        eprintln!("note: all {} machines are the same", doctor.machines.len());
    }
    let met = conditions::verdicts(&conditions, &doctor);
    for verdict in &met {
        eprintln!("{verdict}");
    }
    Ok(Outcome::of(!doctor.errors.is_empty(), !met.is_empty()))
}

fn examine(subject: &Subject, args: &Arguments, profile: Option<Profile>) -> Examined {
    let words = if args.command.is_empty() { &subject.command } else { &args.command };
    let command = (!words.is_empty()).then(|| Command::parse(words));
    let mut machine = subject.machine.clone();
    if let (Some(command), system::Fact::Known { value, .. }) = (&command, &mut machine.environment) {
        for (name, text) in &command.environment {
            value.set(name, text);
        }
    }
    let mut examined = study::doctor::examine(&machine, command.as_ref(), profile);
    if args.env || args.pid.is_some() || subject.program_only {
        study::doctor::keep_environment(&mut examined);
    }
    examined.notes.clone_from(&subject.notes);
    if subject.program_only && !args.env {
        examined
            .notes
            .push("the input says nothing of a machine: only environment and program are checked".to_owned());
    }
    examined
}

fn write(doctor: &Doctor, args: &Arguments, look: &Look) -> Result<()> {
    let style = terminal::style(look, args.output.is_some());
    let text = match args.format {
        DoctorFormat::Text => text::doctor(doctor, &style),
        DoctorFormat::Json => json::doctor(doctor),
        DoctorFormat::Csv => other_formats::csv(doctor),
        DoctorFormat::Markdown => other_formats::markdown(doctor),
        DoctorFormat::Sarif => other_formats::sarif(doctor, env!("CARGO_PKG_VERSION"), &study::rules()),
        DoctorFormat::Github => other_formats::github(doctor),
    };
    let mut output = Output::open(args.output.as_deref())?;
    output.write(&text)?;
    output.finish()
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
