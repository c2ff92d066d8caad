//! Derived counters as metrics: what a profiler recorded under their name, or their formula over what it
//! counted.

use super::{DefinitionError, Definitions, Metric, Variant, WrongDefinitions};
use crate::parse;
use crate::unit::Unit;
use counters::{DERIVED_FILE, Derived, derived};

/// Definitions that have the derived counters and nothing else.
pub(crate) fn definitions() -> Result<Definitions, WrongDefinitions> {
    let mut errors = Vec::new();
    let mut metrics = Vec::new();
    for it in derived().iter() {
        match metric(it) {
            Ok(metric) => metrics.push(metric),
            Err(error) => errors.push(error),
        }
    }
    if !errors.is_empty() {
        return Err(WrongDefinitions(errors));
    }
    Ok(Definitions { files: vec![DERIVED_FILE.to_string()], derived: metrics, ..Definitions::default() })
}

fn metric(it: &Derived) -> Result<Metric, DefinitionError> {
    let error = |line: usize, column: usize, message: String| DefinitionError {
        file: DERIVED_FILE.to_string(),
        line,
        column,
        message,
    };
    let first = it.formulas.first().map_or(0, |formula| formula.line);
    let unit_text = if it.averaged.is_total() { format!("{}/norm", it.unit) } else { it.unit.clone() };
    let unit = Unit::parse(&unit_text).map_err(|message| error(first, 1, message))?;
    let mut variants = Vec::new();
    for formula in &it.formulas {
        let expression = parse::expression(&formula.text, 1)
            .map_err(|wrong| error(formula.line, wrong.column, wrong.message))?;
        variants.push(Variant {
            targets: formula.targets,
            formula: Ok(expression),
            text: formula.text.clone(),
            file: 0,
            line: formula.line,
        });
    }
    Ok(Metric { id: it.name.clone(), unit_text, unit, variants, peaks: Vec::new() })
}
