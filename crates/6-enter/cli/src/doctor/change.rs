//! `doctor --fix`, `--apply`, `--reset`, `--capture` and `--emit`: what changes or writes something.

use super::inputs::Subject;
use crate::args::{Doctor as Arguments, EmitForm};
use crate::exit::{Outcome, usage};
use crate::output::{self, Output};
use anyhow::{Context, Result};
use host::machine;
use host::settings::{self, Written};
use std::collections::BTreeMap;
use study::emit::{self, Form};
use study::fix;
use view::{Examined, Profile};

/// Prints the script, or makes its changes.
pub(super) fn fix(
    args: &Arguments,
    subject: &Subject,
    examined: &Examined,
    profile: Option<Profile>,
) -> Result<Outcome> {
    let plan = fix::plan(&subject.machine, &examined.checks, profile);
    if !args.apply {
        let mut output = Output::open(args.output.as_deref())?;
        output.write(&fix::script(&plan, &examined.name))?;
        output.finish()?;
        return Ok(Outcome::Fine);
    }
    for (check, set) in &plan.advice {
        eprintln!("note: {check} is for you: {set}");
    }
    if plan.changes.is_empty() {
        output::print("nothing to write\n")?;
        return Ok(Outcome::Fine);
    }
    let changes: Vec<(String, String)> = plan.changes.into_iter().map(|it| (it.path, it.value)).collect();
    report(
        &settings::apply(&args.root, &changes)?,
        &format!(
            "to put back: rockhound doctor --reset (kept in {})",
            settings::state_file(&args.root).display()
        ),
    )
}

/// Restores the old values.
pub(super) fn reset(args: &Arguments) -> Result<Outcome> {
    report(&settings::reset(&args.root)?, "every file holds what it held before")
}

fn report(written: &[Written], well: &str) -> Result<Outcome> {
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    let mut failed = 0;
    let mut lines = String::new();
    for it in written {
        let before = shown(&it.before);
        match &it.now {
            Ok(now) if it.holds() => lines += &format!("/{}: {before} -> {}\n", it.path, shown(now)),
            Ok(now) => {
                failed += 1;
                eprintln!("error: /{}: holds {} and not {}", it.path, shown(now), shown(&it.wanted));
            }
            Err(error) => {
                failed += 1;
                eprintln!("error: /{}: {error}", it.path);
            }
        }
    }
    output::print(&lines)?;
    if failed > 0 {
        eprintln!("error: {failed} of {} files are not as asked for (root is needed)", written.len());
        return Ok(Outcome::InputError);
    }
    eprintln!("{well}");
    Ok(Outcome::Fine)
}

/// Writes a bundle of this machine.
pub(super) fn capture(args: &Arguments) -> Result<Outcome> {
    let Some(path) = &args.capture else { return Ok(Outcome::Fine) };
    let tree = machine::read_tree(&args.root);
    let is_this = args.root.as_os_str() == "/";
    let host = if is_this { machine::host_name() } else { args.root.display().to_string() };
    let name = if args.names { host } else { format!("host-{:08x}", hash(&host)) };
    let mut more = vec![("name".to_owned(), name.clone().into_bytes())];
    if is_this {
        let tools: BTreeMap<String, Vec<u8>> = machine::ask_tools();
        more.extend(
            tools.into_iter().map(|(name, output)| {
                (format!("commands/{name}"), system::capture::without_serials(&output))
            }),
        );
        let variables: Vec<u8> = std::env::vars()
            .filter(|(name, value)| system::variables::is_captured(name, value))
            .flat_map(|(name, value)| format!("{name}={value}\0").into_bytes())
            .collect();
        if !variables.is_empty() {
            more.push(("environment".to_owned(), variables));
        }
    }
    let bundle = system::write_bundle(&tree, &more)?;
    std::fs::write(path, &bundle).with_context(|| format!("cannot write `{}`", path.display()))?;
    eprintln!(
        "{}: {} files and {} outputs of {name}, {} KiB; `tar --zstd -tf` lists them",
        path.display(),
        tree.files().count(),
        more.len() - 1,
        bundle.len().div_ceil(1024)
    );
    Ok(Outcome::Fine)
}

/// FNV-1a, 32 bits of it: distinguishes the hosts of a fleet without naming them.
fn hash(text: &str) -> u32 {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (hash >> 32) as u32 ^ hash as u32
}

/// Prints the variables to set.
pub(super) fn emit(
    args: &Arguments,
    subject: &Subject,
    profile: Option<Profile>,
    form: EmitForm,
) -> Result<Outcome> {
    let Some(profile) = profile else {
        return Err(usage(
            "`--emit` needs to know the work",
            "add --profile benchmark, training, inference, debug or distributed",
        ));
    };
    let form = match form {
        EmitForm::Sh => Form::Shell,
        EmitForm::Docker => Form::Docker,
        EmitForm::Slurm => Form::Slurm,
    };
    let mut output = Output::open(args.output.as_deref())?;
    output.write(&emit::block(&subject.machine, subject.machine.environment.get(), profile, form))?;
    output.finish()?;
    Ok(Outcome::Fine)
}
