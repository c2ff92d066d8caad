//! `rockhound metrics`: what metrics and counters mean and need.

use crate::answer::{self, DECIMALS, Target};
use crate::args::{Look, Metrics};
use crate::exit::Outcome;
use anyhow::Result;
use host::definitions;

/// Explains.
pub(crate) fn run(args: &Metrics, look: &Look) -> Result<Outcome> {
    let definitions = definitions::read(&args.definitions)?;
    let targets = study::targets(args.arch.as_deref())?;
    if args.list_sets {
        let sets = study::sets(&study::compile(&definitions, &targets)?);
        return answer::print(&sets, args.format, look);
    }
    let ids = match &args.set {
        Some(name) => vec![study::known_set(name)?.to_owned()],
        None => args.ids.clone(),
    };
    let mut report = study::explain(&definitions, &study::compile(&definitions, &targets)?, &ids)?;
    let target = Target { format: args.format, output: None, decimals: DECIMALS, look };
    answer::finish(&mut report, &target, &mut crate::gate::Gated::none())
}
