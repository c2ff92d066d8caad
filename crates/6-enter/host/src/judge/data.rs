//! Other contents for the buffers of a launch file whose contents are files, such as the buffers of a captured launch: a candidate
//! that knows the captured results is found by them.

use super::problem::{fault_of_base, new_finding, one_line};
use super::{Bench, MOST_MORE, MOST_TIMES};
use crate::launch_file::{LaunchFile, Variations};
use crate::run::{self, Conditions, Emulate, Results};
use anyhow::Result;
use buffers::Variation;
use std::collections::{BTreeMap, BTreeSet};
use view::{Note, NoteKind};

/// Names that a note lists.
const NAMES: usize = 6;

/// Contents that replace the files of a launch.
pub(super) struct Data {
    variations: Variations,
    /// Buffers that the base writes, though the captured launch left them as they were.
    rewritten: BTreeSet<String>,
    /// Why the contents are not farther from the captured ones, or are the captured ones.
    held_back: Option<String>,
}

impl Data {
    /// Tries contents on the base, the farthest from the given ones first. `None` without files.
    pub(super) fn new(bench: Bench<'_>, file: &LaunchFile, keep: &[String]) -> Result<Option<Data>> {
        if !file.has_data() {
            return Ok(None);
        }
        let launch = |file: &LaunchFile, most: u64| {
            let check = vec!["races".into(), "uninit".into()];
            let emulate = Emulate { check, max_instructions: most, ..super::emulate(bench.question, 0) };
            let results = run::results(file, &emulate, Conditions::default(), bench.quiet);
            bench.quiet.check()?;
            results
        };
        let given = launch(file, run::MOST_INSTRUCTIONS)?;
        let most = given.instructions.saturating_mul(MOST_TIMES).saturating_add(MOST_MORE);
        let mut held_back = None;
        for variation in Variation::ALL {
            let variations = file.variations(variation, keep)?;
            let mut other = file.clone();
            other.vary(&variations, 1);
            if variations.varied.is_empty() || fault_of_base(&given).is_some() {
                return Ok(Some(Data { variations, rewritten: BTreeSet::new(), held_back }));
            }
            let left = launch(&other, most)?;
            match fault(&given, &left) {
                None => {
                    let rewritten = rewritten(&given, &left);
                    return Ok(Some(Data { variations, rewritten, held_back }));
                }
                why => held_back = why,
            }
        }
        let mut variations = file.variations(Variation::Scaled, keep)?;
        variations.varied.clear();
        Ok(Some(Data { variations, rewritten: BTreeSet::new(), held_back }))
    }

    /// Notes which buffers the kernel writes.
    pub(super) fn mark(&self, file: &mut LaunchFile) {
        file.rewrites(&self.rewritten);
    }

    /// Gives the buffers other contents; `false` if none can have them.
    pub(super) fn vary(&self, file: &mut LaunchFile, seed: u64) -> bool {
        let has_any = !self.variations.varied.is_empty();
        if has_any {
            file.vary(&self.variations, seed);
        }
        has_any
    }

    /// Which buffers had other contents, which had not, and why.
    pub(super) fn note(&self, seeds: u32) -> Note {
        let Variations { varied, kept, .. } = &self.variations;
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        kept.iter().for_each(|(name, why)| reasons.entry(*why).or_default().push(name));
        let each = |(why, names): (&str, Vec<&str>)| format!("{} ({why})", list(&names));
        let kept: Vec<String> = reasons.into_iter().map(|(why, names)| each((why, names))).collect();
        let varied: Vec<&str> = varied.iter().map(String::as_str).collect();
        let (kind, mut text) = match (varied.is_empty(), seeds) {
            (true, _) => (
                NoteKind::Warning,
                "no buffer has other contents than the file's, so a candidate that knows the results is not found".to_owned(),
            ),
            (false, 0 | 1) => (
                NoteKind::Warning,
                "only the contents of the files were tried: `--seeds 3` tries others, too".to_owned(),
            ),
            (false, _) => (NoteKind::Info, format!("from seed 1 on, contents are others in {}", list(&varied))),
        };
        if !kept.is_empty() {
            text += &format!("; as in the file are {}", kept.join(", "));
        }
        if let Some(why) = &self.held_back {
            text += &format!("; with contents farther from the file's the base fails: {why}");
        }
        Note { kind, text }
    }
}

fn list(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES).map(|it| format!("`{it}`")).collect();
    let more = names.len().saturating_sub(NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

/// Why the base cannot be compared with on other contents, where it can on the given ones.
fn fault(given: &Results, left: &Results) -> Option<String> {
    if let Some(stopped) = &left.stopped {
        return Some(one_line(&stopped.text));
    }
    if let Some(finding) = new_finding(&given.findings, &left.findings) {
        return Some(finding);
    }
    given.buffers.iter().zip(&left.buffers).find_map(|(given, left)| {
        let is_broken = |bytes: &[u8]| left.element.numbers(bytes).iter().any(|it| !it.is_finite());
        (is_broken(&left.after) && !is_broken(&given.after))
            .then(|| format!("`{}` has infinite values or NaN", left.name))
    })
}

/// Buffers that were as before after the given launch, and are not after the other one.
fn rewritten(given: &Results, left: &Results) -> BTreeSet<String> {
    let pairs = given.buffers.iter().zip(&left.buffers);
    let changed = pairs.filter(|(given, left)| given.before == given.after && left.before != left.after);
    changed.map(|(given, _)| given.name.clone()).collect()
}
