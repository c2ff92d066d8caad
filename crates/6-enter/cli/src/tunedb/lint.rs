//! `rockhound tunedb lint`.

use super::{Opened, finish, machine};
use crate::args::{Look, TuneLint};
use crate::exit::Outcome;
use crate::fail_on;
use anyhow::{Context, Result};
use rules::TuningEvidence;
use std::collections::BTreeSet;
use study::tunings::lint;

pub(crate) fn run(args: &TuneLint, look: &Look) -> Result<Outcome> {
    let mut conditions = fail_on::parse(&args.fail_on)?;
    let machine = machine(&args.machine, &args.expect)?;
    let catalogue = args.catalogue.as_ref().map(|path| -> Result<BTreeSet<String>> {
        let name = path.display();
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{name}`"))?;
        Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
    });
    let catalogue = catalogue.transpose()?;
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    let evidence = TuningEvidence { files: &files, machine: machine.as_ref(), catalogue: catalogue.as_ref() };
    finish(lint(&evidence), errors, &args.write, look, &mut conditions)
}
