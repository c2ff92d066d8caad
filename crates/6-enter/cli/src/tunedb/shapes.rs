//! `rockhound tunedb shapes`.

use super::{Opened, finish, unreadable};
use crate::args::{Look, ShapesTo, TuneShapes};
use crate::exit::{Outcome, usage};
use crate::gate::Gated;
use crate::output::Output;
use anyhow::Result;
use host::traces;
use host::tunings::replace;
use study::tunings::{self, WrittenShapes};

pub(super) fn run(args: &TuneShapes, look: &Look) -> Result<Outcome> {
    let (timelines, others) = traces::split(&args.files);
    let opened = Opened::new(&others);
    let (lists, errors) = opened.problems(&timelines);
    let Some(to) = args.to else {
        return finish(tunings::shapes(&lists, args.top), errors, &args.write, look, &mut Gated::none());
    };
    if lists.is_empty() {
        return Ok(unreadable(&errors));
    }
    let to = match to {
        ShapesTo::Aiter => tunings::ShapesTo::Aiter,
        ShapesTo::Geko => tunings::ShapesTo::Geko,
        ShapesTo::HipblasltBench => tunings::ShapesTo::HipblasltBench,
        ShapesTo::Vllm => tunings::ShapesTo::Vllm,
        ShapesTo::Tunableop => tunings::ShapesTo::TunableOp,
    };
    let written = tunings::write_shapes(&lists, to).map_err(super::writing::refused)?;
    give(args, &written)?;
    // The file may go to standard output, so what is left out goes to the other one.
    written.notes.iter().for_each(|note| eprintln!("{note}"));
    Ok(if errors.is_empty() { Outcome::Fine } else { unreadable(&errors) })
}

/// Writes one file where it is wanted, several into a folder.
fn give(args: &TuneShapes, written: &WrittenShapes) -> Result<()> {
    match (&args.write.output, written.files.as_slice()) {
        (None, [(_, bytes)]) => {
            let mut output = Output::open(None)?;
            output.write_bytes(bytes)?;
            output.finish()
        }
        (Some(path), [(_, bytes)]) if !path.is_dir() => replace(path, bytes),
        (Some(folder), files) if folder.is_dir() || !folder.exists() => {
            std::fs::create_dir_all(folder)?;
            files.iter().try_for_each(|(name, bytes)| replace(&folder.join(name), bytes))
        }
        (_, files) => {
            let names: Vec<&str> = files.iter().map(|it| it.0.as_str()).collect();
            Err(usage(format!("there are several files: {}", names.join(", ")), "name a folder with -o"))
        }
    }
}
