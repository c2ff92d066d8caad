//! `rockhound tunedb show`.

use super::{Opened, finish, kind, machine, sizes};
use crate::args::{Look, TuneRows, TuneShow, TuneSort};
use crate::exit::Outcome;
use anyhow::Result;
use study::tunings::{Order, Selection, show};

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
    let report = show(&files, &selection, order, args.top);
    finish(report, errors, &args.write, look, &mut [])
}

/// The rows named on the command line.
pub(super) fn selection(args: &TuneRows) -> Result<Selection> {
    let machine = machine(&args.machine, &[])?.unwrap_or_default();
    Ok(Selection {
        kind: args.op.map(kind),
        mnk: args.mnk.as_deref().map(sizes).transpose()?,
        types: args.types.clone(),
        target: machine.target,
        cu_count: machine.cu_count,
        text: args.kernel.clone(),
    })
}
