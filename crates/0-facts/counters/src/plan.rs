//! Packing counters into runs of the application.
//!
//! Blocks count independently, so the smallest number of runs is that needed by the fullest block, and
//! filling the slots of each block in order reaches it. Only a level counter needs care: it takes two slots
//! of the sequencer, each run has one accumulator, and its divisor should be read in the same run.

use crate::catalogue::Catalogue;
use std::collections::{HashMap, HashSet};

/// One thing to read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Need {
    /// A counter, by its plain name; all instances are read at once.
    Counter(String),
    /// The sum over cycles of a level, with counters that should be read in the same run.
    Level {
        /// The level counter.
        level: String,
        /// Counters to read with it.
        with: Vec<String>,
    },
}

/// Counters read in one run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Pass {
    /// The level accumulated in this run.
    pub level: Option<String>,
    /// Counters as the target spells them, in the requested order. A level's own counter and the accumulator
    /// are among them.
    pub counters: Vec<String>,
}

/// Runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// In order.
    pub passes: Vec<Pass>,
}

/// Reason why planning failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// the counter is in no catalogue
    #[error("unknown counter `{0}`")]
    Unknown(String),
    /// the target lacks the counter
    #[error("{target} has no counter `{counter}`")]
    NotOnTarget {
        /// Counter.
        counter: String,
        /// Target.
        target: String,
    },
    /// more is wanted in one run than a block can count
    #[error("level `{level}` asks for more counters of {block} in one run than its {limit}")]
    LevelTooWide {
        /// Level.
        level: String,
        /// Block.
        block: String,
        /// Its limit.
        limit: usize,
    },
}

/// The accumulator that a level is summed in.
const ACCUMULATOR: &str = "SQ_ACCUM_PREV_HIRES";

/// Packs the needed counters into the fewest runs. The same needs in the same order give the same plan.
pub fn plan(catalogue: &Catalogue, target: &str, needs: &[Need]) -> Result<Plan, PlanError> {
    let block_of = |name: &str| -> Result<usize, PlanError> {
        let d = catalogue.get(name).ok_or_else(|| PlanError::Unknown(name.to_string()))?;
        if !catalogue.has(d, target) {
            return Err(PlanError::NotOnTarget { counter: name.to_string(), target: target.to_string() });
        }
        Ok(d.block)
    };
    let blocks = catalogue.blocks();
    let mut passes: Vec<Pass> = Vec::new();
    // Places taken, per pass and block.
    let mut taken: Vec<Vec<usize>> = Vec::new();
    let mut placed: HashSet<&str> = HashSet::new();
    let mut levels: HashMap<&str, usize> = HashMap::new();
    for need in needs {
        let Need::Level { level, with } = need else { continue };
        let at = *levels.entry(level).or_insert_with(|| {
            passes.push(Pass { level: Some(level.clone()), counters: Vec::new() });
            taken.push(vec![0; blocks.len()]);
            passes.len() - 1
        });
        // The accumulator follows the level: it sums what is programmed before it.
        for name in [level.as_str(), ACCUMULATOR].into_iter().chain(with.iter().map(String::as_str)) {
            let spelled = catalogue.spelled_on(name, target);
            if passes[at].counters.iter().any(|c| *c == spelled) {
                continue;
            }
            let block = block_of(name)?;
            taken[at][block] += 1;
            if taken[at][block] > blocks[block].limit {
                return Err(PlanError::LevelTooWide {
                    level: level.clone(),
                    block: blocks[block].name.clone(),
                    limit: blocks[block].limit,
                });
            }
            passes[at].counters.push(spelled.into_owned());
            placed.insert(name);
        }
    }
    for need in needs {
        let Need::Counter(name) = need else { continue };
        let block = block_of(name)?;
        if !placed.insert(name) {
            continue;
        }
        let at = match taken.iter().position(|t| t[block] < blocks[block].limit) {
            Some(at) => at,
            None => {
                passes.push(Pass::default());
                taken.push(vec![0; blocks.len()]);
                passes.len() - 1
            }
        };
        taken[at][block] += 1;
        passes[at].counters.push(catalogue.spelled_on(name, target).into_owned());
    }
    Ok(Plan { passes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::catalogue;

    fn counters(names: &[&str]) -> Vec<Need> {
        names.iter().map(|n| Need::Counter((*n).to_string())).collect()
    }

    fn check(target: &str, needs: &[Need], want: &[&str]) {
        let got = match plan(catalogue(), target, needs) {
            Ok(p) => p.passes.iter().map(|p| p.counters.join(" ")).collect(),
            Err(e) => vec![e.to_string()],
        };
        assert_eq!(got, want);
    }

    #[test]
    fn blocks_fill_in_order() {
        check("gfx942", &[], &[]);
        check(
            "gfx942",
            &counters(&["TD_TD_BUSY", "TD_TC_STALL", "TA_TA_BUSY", "TD_SPI_STALL", "TD_TD_BUSY"]),
            &["TD_TD_BUSY TD_TC_STALL TA_TA_BUSY", "TD_SPI_STALL"],
        );
    }

    #[test]
    fn counters_have_the_names_of_the_target() {
        let needs = counters(&["TCC_EA0_RDREQ", "SQ_WAVES", "TCC_EA0_RDREQ"]);
        check("gfx90a", &needs, &["TCC_EA_RDREQ SQ_WAVES"]);
        check("gfx942", &needs, &["TCC_EA0_RDREQ SQ_WAVES"]);
    }

    #[test]
    fn levels_have_a_run_each_and_others_fill_the_rest() {
        let level = |l: &str, with: &[&str]| Need::Level {
            level: l.into(),
            with: with.iter().map(|w| (*w).to_string()).collect(),
        };
        let mut needs = counters(&["SQ_IFETCH", "GRBM_GUI_ACTIVE", "SQ_INSTS"]);
        needs.push(level("SQ_IFETCH_LEVEL", &["SQ_IFETCH"]));
        needs.push(level("SQ_LEVEL_WAVES", &["GRBM_GUI_ACTIVE"]));
        check(
            "gfx90a",
            &needs,
            &[
                "SQ_IFETCH_LEVEL SQ_ACCUM_PREV_HIRES SQ_IFETCH SQ_INSTS",
                "SQ_LEVEL_WAVES SQ_ACCUM_PREV_HIRES GRBM_GUI_ACTIVE",
            ],
        );
        check(
            "gfx90a",
            &[level("SQ_LEVEL_WAVES", &["GRBM_COUNT", "GRBM_GUI_ACTIVE", "GRBM_SPI_BUSY"])],
            &["level `SQ_LEVEL_WAVES` asks for more counters of GRBM in one run than its 2"],
        );
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        check("gfx942", &counters(&["SQ_WAVEZ"]), &["unknown counter `SQ_WAVEZ`"]);
        check("gfx942", &counters(&["TCC_IB_STALL"]), &["gfx942 has no counter `TCC_IB_STALL`"]);
    }

    #[test]
    fn every_counter_of_a_target_fits_in_the_runs_of_its_fullest_block() {
        let c = catalogue();
        for target in c.targets() {
            let all: Vec<Need> = c
                .counters()
                .iter()
                .filter(|d| c.has(d, target))
                .map(|d| Need::Counter(d.name.clone()))
                .collect();
            let p = plan(c, target, &all).unwrap();
            let fullest = (0..c.blocks().len())
                .map(|b| {
                    c.counters()
                        .iter()
                        .filter(|d| d.block == b && c.has(d, target))
                        .count()
                        .div_ceil(c.blocks()[b].limit)
                })
                .max()
                .unwrap();
            assert_eq!(p.passes.len(), fullest, "{target}");
            assert_eq!(p.passes.iter().map(|p| p.counters.len()).sum::<usize>(), all.len());
        }
    }
}
