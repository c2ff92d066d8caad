//! `rockhound tunedb lint`.

use super::{Opened, finish, here, named};
use crate::args::{Look, TuneLint};
use crate::exit::Outcome;
use crate::gate;
use anyhow::{Context, Result};
use std::collections::BTreeSet;
use study::Judges;
use study::tunings;

pub(crate) fn run(args: &TuneLint, look: &Look) -> Result<Outcome> {
    let mut gated = gate::open("tunedb lint", Judges::Tunings, &args.fail_on, &args.memory)?;
    let here = here(&args.machine)?;
    let machine = named(&args.machine, here.as_ref(), &args.expect).known()?;
    let catalogue = args.catalogue.as_ref().map(|path| -> Result<BTreeSet<String>> {
        let name = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    });
    let catalogue = catalogue.transpose()?;
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    let report = tunings::lint(&files, machine.as_ref(), catalogue.as_ref());
    finish(report, errors, &args.write, look, &mut gated)
}
