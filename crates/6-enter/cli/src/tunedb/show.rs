//! `rockhound tunedb show`.

use super::{Opened, finish, here, named};
use crate::args::{Look, TuneRows, TuneShow, TuneSort};
use crate::exit::Outcome;
use crate::gate::Gated;
use anyhow::Result;
use study::tunings::{self, Order, Selection};

pub(crate) fn run(args: &TuneShow, look: &Look) -> Result<Outcome> {
    let selection = selection(&args.rows)?;
    let opened = Opened::new(&args.files);
    let (files, errors) = opened.read();
    let order = match args.sort {
        TuneSort::Line => Order::Line,
        TuneSort::Time => Order::Time,
        TuneSort::Calls => Order::Calls,
        TuneSort::Lost => Order::Lost,
    };
    let report = tunings::show(&files, &selection, order, args.top);
    finish(report, errors, &args.write, look, &mut Gated::none())
}

/// The rows named on the command line.
pub(super) fn selection(args: &TuneRows) -> Result<Selection> {
    let here = here(&args.machine)?;
    let machine = named(&args.machine, here.as_ref(), &[]).known()?.unwrap_or_default();
    Ok(Selection {
        kind: args.op.and_then(|op| tunings::kind(op.word())),
        mnk: args.mnk.as_deref().map(tunings::sizes).transpose()?,
        types: args.types.clone(),
        target: machine.target,
        cu_count: machine.cu_count,
        text: args.kernel.clone(),
    })
}
