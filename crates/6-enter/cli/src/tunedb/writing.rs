//! `rockhound tunedb merge` and `convert`: output goes to a temporary file, which is renamed.

use super::{Opened, finish};
use crate::args::{ConvertTo, Look, TuneConvert, TuneMerge, TuneWrite};
use crate::exit::{Outcome, usage};
use crate::gate::Gated;
use crate::output::Output;
use anyhow::{Result, anyhow};
use host::tunings::{replace, replace_checked};
use study::tunings::{self, MergeOptions, Refusal, To, convert as converted, merge as merged};
use view::NoteKind;

/// A refusal as an error with its hint.
pub(super) fn refused(refusal: Refusal) -> anyhow::Error {
    let hint = if refusal.hint.is_empty() { String::new() } else { format!("\nhint: {}", refusal.hint) };
    anyhow!("{}{hint}", refusal.message)
}

/// The errors of files that could not be read, as one. A merge of half of its files would lose rows.
fn all_read(errors: Vec<view::FileError>) -> Result<()> {
    match errors.into_iter().next() {
        Some(error) => {
            let hint = error.hint.map_or_else(String::new, |hint| format!("\nhint: {hint}"));
            Err(anyhow!("{}: {}{hint}", error.file, error.error))
        }
        None => Ok(()),
    }
}

pub(super) fn merge(args: &TuneMerge, look: &Look) -> Result<Outcome> {
    if args.noise.is_some_and(|it| !(0.0..100.0).contains(&it)) {
        return Err(usage("`--noise` is a share in percent", "write a number from 0 to 99"));
    }
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    all_read(errors)?;
    let options = MergeOptions {
        noise: args.noise.map(|it| it / 100.0),
        force: args.force,
        trim: args.trim,
        explain: args.explain,
    };
    let result = merged(&files, &options).map_err(refused)?;
    // The merged result has to be a file that the same readers accept.
    let name = args.output.display().to_string();
    let made = !result.verbatim && files.iter().any(|file| !file.rows.is_empty());
    replace_checked(&args.output, &result.bytes, || {
        drop(files);
        match made.then(|| tunings::check(&name, &result.bytes)) {
            Some(Err(error)) => {
                Err(anyhow!("the result would not be read back: {error}; nothing is written"))
            }
            Some(Ok(())) | None => Ok(()),
        }
    })?;
    let write = TuneWrite { format: args.format, output: None };
    let mut report = result.report;
    report.note(NoteKind::Info, format!("written: {name}"));
    finish(report, Vec::new(), &write, look, &mut Gated::none())
}

pub(super) fn convert(args: &TuneConvert) -> Result<Outcome> {
    let opened = Opened::new(std::slice::from_ref(&args.file));
    let schema = Opened::new(args.schema.as_slice());
    let (files, errors) = opened.read();
    all_read(errors)?;
    let (schemas, errors) = schema.read();
    all_read(errors)?;
    let Some(file) = files.first() else {
        return Err(usage("a folder is no file to convert", "name one file"));
    };
    let to = match args.to {
        ConvertTo::Tunableop => To::TunableOp,
        ConvertTo::TunableopUntuned => To::TunableOpUntuned,
        ConvertTo::FindExact => To::FindExact,
        ConvertTo::Aiter => To::Aiter,
        ConvertTo::Vllm => To::Vllm,
        ConvertTo::Sglang => To::Sglang,
        ConvertTo::TritonConfigs => To::TritonConfigs,
    };
    let takes = tunings::chosen(args.types.as_deref(), args.layout.as_deref());
    let result = converted(file, to, schemas.first(), &takes).map_err(refused)?;
    match (&args.output, &result.name) {
        (Some(folder), Some(name)) => {
            let path = if folder.is_dir() { folder.join(name) } else { folder.clone() };
            if path.file_name().is_some_and(|it| it != name.as_str()) {
                return Err(usage(
                    format!("the name is a part of the key: it has to be `{name}`"),
                    "name the folder with -o",
                ));
            }
            replace(&path, &result.bytes)?;
        }
        (Some(path), None) => replace(path, &result.bytes)?,
        (None, _) => {
            let mut output = Output::open(None)?;
            output.write_bytes(&result.bytes)?;
            output.finish()?;
        }
    }
    // The file may go to standard output, so what is lost goes to the other one.
    for note in &result.report.notes {
        eprintln!("{}", note.text);
    }
    if let (None, Some(name)) = (&args.output, &result.name) {
        eprintln!("the name of the file has to be `{name}`");
    }
    Ok(Outcome::Fine)
}
