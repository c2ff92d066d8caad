//! `rockhound metrics`: what metrics and counters mean and need.

use crate::args::{Look, Metrics};
use crate::exit::{Outcome, usage};
use crate::{output, sets, terminal};
use analysis::workload::explain;
use anyhow::Result;
use arch::Target;
use host::definitions;
use metrics::{Compiled, Definitions};
use render::{json, text};
use view::Format;

/// Explains.
pub(crate) fn run(args: &Metrics, look: &Look) -> Result<Outcome> {
    let own = definitions::read(&args.definitions)?;
    let all = own.as_ref().unwrap_or_else(|| Definitions::built_in());
    let targets: Vec<String> = match &args.arch {
        Some(name) => vec![definitions::gpu(name)?.0],
        None => Target::names().map(str::to_owned).collect(),
    };
    if args.list_sets {
        output::print(&sets::list(all, &targets, args.format)?)?;
        return Ok(Outcome::Fine);
    }
    let ids = match &args.set {
        Some(name) => vec![sets::by_name(name)?.name.to_owned()],
        None => args.ids.clone(),
    };
    let compiled = targets.iter().map(|t| definitions::compile(all, t)).collect::<Result<Vec<Compiled>>>()?;
    let report = explain(all, &compiled, &ids).map_err(|e| usage(e.message, e.hint))?;
    output::print(&match args.format {
        Format::Json => json::metrics(&report),
        _ => text::metrics(&report, !ids.is_empty(), &terminal::style(look, false)),
    })?;
    Ok(Outcome::Fine)
}
