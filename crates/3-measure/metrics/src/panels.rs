//! Panels that read given counters.

use crate::compile::Compiled;
use crate::definitions::Definitions;
use counters::Need;
use std::collections::{BTreeMap, BTreeSet};

/// The last panel that is an overview of others.
const OVERVIEWS: u16 = 4;

impl Definitions {
    /// Numbers of a few panels whose tables read all these counters of a recording. Counters that no table
    /// reads are ignored.
    pub fn panels_with(&self, compiled: &Compiled, counters: &[&str]) -> Vec<u16> {
        let mut panels: BTreeMap<u16, BTreeSet<&str>> = BTreeMap::new();
        for table in self.tables().iter().filter(|table| table.id.0 > OVERVIEWS) {
            for row in table.rows(compiled.target()) {
                let needs = compiled.needs(&row.metric);
                let reads = |counter: &str| {
                    needs.iter().any(|need| match need {
                        Need::Counter(name) => name == counter,
                        Need::Level { level, with } => {
                            level == counter || with.iter().any(|it| it == counter)
                        }
                    })
                };
                panels.entry(table.id.0).or_default().extend(counters.iter().filter(|it| reads(it)));
            }
        }
        let mut left: BTreeSet<&str> = counters.iter().copied().collect();
        let mut out = Vec::new();
        loop {
            let covers = |own: &BTreeSet<&str>| own.intersection(&left).count();
            // Of panels that read as many the first in the book counts.
            let best = panels.iter().rev().max_by_key(|(_, own)| covers(own));
            let Some((panel, own)) = best.filter(|(_, own)| covers(own) > 0) else { break };
            out.push(*panel);
            left.retain(|counter| !own.contains(counter));
        }
        out.sort_unstable();
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_panels_read_the_counters() {
        let compiled = Definitions::built_in().compile("gfx942").unwrap();
        for (counters, panels) in [
            (&["SQ_LDS_BANK_CONFLICT"][..], &[12][..]),
            (&["TCC_EA0_RDREQ", "TCC_EA0_WRREQ_64B", "TCP_TCC_READ_REQ"], &[16, 17]),
            (&["NO_SUCH_COUNTER"], &[]),
        ] {
            assert_eq!(Definitions::built_in().panels_with(&compiled, counters), panels, "{counters:?}");
        }
    }
}
