//! Counters that a report needs.

use super::blocks::Blocks;
use counters::Need;
use metrics::{Compiled, Definitions};

/// Counters of the metrics in some blocks, for the target that the definitions are compiled for.
pub fn needs(definitions: &Definitions, compiled: &Compiled, blocks: &Blocks) -> Vec<Need> {
    let mut needs: Vec<Need> = Vec::new();
    let mut add = |metric: &str| {
        for need in compiled.needs(metric) {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
    };
    for table in definitions.tables() {
        for (at, row) in table.rows(compiled.target()).enumerate() {
            if blocks.shows_row(table.id, at, &row.metric) {
                add(&row.metric);
            }
        }
    }
    blocks.loose().iter().for_each(|metric| add(metric));
    needs
}
