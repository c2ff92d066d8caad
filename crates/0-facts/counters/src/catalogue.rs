//! The catalogue: one row per counter, in the data files of this crate.
//!
//! A recorded name is a base name with a form. `TCC_HIT` over all channels is `TCC_HIT_sum`, one channel is
//! `TCC_HIT[3]`, the sum over cycles of a level is `SQ_LEVEL_WAVES_ACCUM`; older GPUs spell `TCC_EA0_…`
//! without the 0. [`Catalogue::find`] undoes all of these.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A kind of hardware block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Name: `SQ`, `TCC`.
    pub name: String,
    /// Counters one instance reads at once.
    pub limit: usize,
    /// Hardware unit that contains one instance of the block.
    pub per: Per,
    /// Meaning of the block.
    pub meaning: String,
}

/// Hardware unit that contains one instance of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    /// XCD.
    Xcd,
    /// Shader engine.
    ShaderEngine,
    /// Compute unit.
    Cu,
    /// L2 channel.
    Channel,
}

/// Inputs on which a counter's value depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The program alone: the same in every run.
    Functional,
    /// Cache contents too.
    Cache,
    /// Timing too.
    Timing,
    /// Firmware, driver or configuration.
    Firmware,
}

/// One counter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Name.
    pub name: String,
    /// Block, an index into [`Catalogue::blocks`].
    pub block: usize,
    /// Inputs on which its value depends.
    pub class: Class,
    /// Unit of the value: `req`, `cycle`, `thread*cycle`.
    pub unit: String,
    /// Targets that have it, a bit per [`Catalogue::targets`].
    targets: u32,
    /// Event that it counts.
    pub meaning: String,
}

impl Definition {
    /// Level counter (number in flight). Recordings hold its sum over cycles as `NAME_ACCUM`.
    pub fn is_level(&self) -> bool {
        self.name.starts_with("SQ_") && self.name.contains("LEVEL")
    }
}

/// A recorded name taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name<'a> {
    /// The counter.
    pub definition: &'a Definition,
    /// One instance of the block.
    pub instance: Option<u32>,
    /// Sum over cycles, of a level.
    pub accumulated: bool,
}

/// An error of a data file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct CatalogueError {
    /// File.
    pub file: String,
    /// Line, 1-based.
    pub line: usize,
    /// The error.
    pub what: String,
}

/// Counters that have another name on a target; a name that ends with `*` matches every name with that
/// prefix.
#[derive(Debug)]
struct Respelled {
    target: String,
    here: String,
    there: String,
}

/// The other name, if `name` matches the pattern `from`.
fn respell(name: &str, from: &str, to: &str) -> Option<String> {
    match (from.strip_suffix('*'), to.strip_suffix('*')) {
        (Some(from), Some(to)) => Some(format!("{to}{}", name.strip_prefix(from)?)),
        _ => (name == from).then(|| to.to_string()),
    }
}

/// All counters.
#[derive(Debug)]
pub struct Catalogue {
    targets: Vec<String>,
    respelled: Vec<Respelled>,
    blocks: Vec<Block>,
    counters: Vec<Definition>,
    /// Number of counters before those that are known from recordings only.
    read: usize,
    by_name: HashMap<String, usize>,
}

/// Reduction over the instances of a block other than the sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OfInstances {
    /// The largest.
    Largest,
    /// The least.
    Least,
    /// The mean.
    Mean,
}

/// Suffixes of names, with the reduction over instances they mean.
const OF_INSTANCES: &[(&str, OfInstances)] = &[
    ("_max", OfInstances::Largest),
    ("_min", OfInstances::Least),
    ("_avr", OfInstances::Mean),
    ("_avg", OfInstances::Mean),
];

/// The catalogue compiled into the program.
pub fn catalogue() -> &'static Catalogue {
    static CATALOGUE: OnceLock<Catalogue> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        Catalogue::parse(
            include_str!("../data/targets.tsv"),
            include_str!("../data/blocks.tsv"),
            &[
                ("command-processor.tsv", include_str!("../data/command-processor.tsv")),
                ("workgroup-manager.tsv", include_str!("../data/workgroup-manager.tsv")),
                ("sequencer.tsv", include_str!("../data/sequencer.tsv")),
                ("vector-memory.tsv", include_str!("../data/vector-memory.tsv")),
                ("l2.tsv", include_str!("../data/l2.tsv")),
            ],
            &[("further.tsv", include_str!("../data/further.tsv"))],
        )
        .expect("the data files of this crate are well formed, which a test checks")
    })
}

pub(crate) fn rows(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(i, l)| (i + 1, l)).filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
}

impl Catalogue {
    /// Reads data files; `further` has counters that are known by name only.
    pub fn parse(
        targets: &str,
        blocks: &str,
        files: &[(&str, &str)],
        further: &[(&str, &str)],
    ) -> Result<Self, CatalogueError> {
        let mut c = Self {
            targets: Vec::new(),
            respelled: Vec::new(),
            blocks: Vec::new(),
            counters: Vec::new(),
            read: 0,
            by_name: HashMap::new(),
        };
        for (line, text) in rows(targets) {
            let (target, respelled) = text.split_once('\t').unwrap_or((text, ""));
            c.targets.push(target.trim().to_string());
            for rule in respelled.split_whitespace() {
                let what = || format!("`{rule}` is not two names with `=` between them");
                let (here, there) = rule.split_once('=').ok_or_else(|| CatalogueError {
                    file: "targets.tsv".into(),
                    line,
                    what: what(),
                })?;
                let (target, here, there) = (target.to_string(), here.to_string(), there.to_string());
                c.respelled.push(Respelled { target, here, there });
            }
        }
        for (line, text) in rows(blocks) {
            let fail = |what: &str| CatalogueError { file: "blocks.tsv".into(), line, what: what.into() };
            let f: Vec<&str> = text.split('\t').collect();
            let [name, limit, per, meaning] = f[..] else { return Err(fail("a row has 4 fields")) };
            let per = match per {
                "XCD" => Per::Xcd,
                "shader engine" => Per::ShaderEngine,
                "CU" => Per::Cu,
                "channel" => Per::Channel,
                _ => return Err(fail("the third field is `XCD`, `shader engine`, `CU` or `channel`")),
            };
            let limit =
                limit.parse().ok().filter(|n| *n > 0).ok_or_else(|| fail("the limit is no number"))?;
            c.blocks.push(Block { name: name.into(), limit, per, meaning: meaning.into() });
        }
        for files in [files, further] {
            c.read = c.counters.len();
            for (file, text) in files {
                for (line, row) in rows(text) {
                    c.add(row).map_err(|what| CatalogueError { file: (*file).into(), line, what })?;
                }
            }
        }
        Ok(c)
    }

    fn add(&mut self, row: &str) -> Result<(), String> {
        let f: Vec<&str> = row.split('\t').collect();
        let [name, class, unit, targets, meaning] = f[..] else { return Err("a row has 5 fields".into()) };
        let prefix = match name.split('_').next().unwrap_or("") {
            "SQC" => "SQ",
            p => p,
        };
        let block = self
            .blocks
            .iter()
            .position(|b| b.name == prefix)
            .ok_or_else(|| format!("`{name}` begins with no block's name"))?;
        let class = match class {
            "functional" => Class::Functional,
            "cache" => Class::Cache,
            "timing" => Class::Timing,
            "firmware" => Class::Firmware,
            other => return Err(format!("`{other}` is no class")),
        };
        let targets = self.target_bits(targets)?;
        if meaning.is_empty() || unit.is_empty() {
            return Err("unit and meaning may not be empty".into());
        }
        if self.by_name.insert(name.into(), self.counters.len()).is_some() {
            return Err(format!("`{name}` occurs twice"));
        }
        let (name, unit, meaning) = (name.into(), unit.into(), meaning.into());
        self.counters.push(Definition { name, block, class, unit, targets, meaning });
        Ok(())
    }

    /// Targets as a set, a bit per [`Catalogue::targets`]: `all`, names, and ranges `first..last` or
    /// `first..`, separated by spaces.
    pub fn target_bits(&self, text: &str) -> Result<u32, String> {
        let position = |t: &str| {
            self.targets
                .iter()
                .position(|n| n == t)
                .ok_or_else(|| format!("`{t}` is no target of targets.tsv"))
        };
        let mut bits = 0;
        for part in text.split(' ') {
            let (first, last) = match part.split_once("..") {
                _ if part == "all" => (0, self.targets.len() - 1),
                Some((a, "")) => (position(a)?, self.targets.len() - 1),
                Some((a, b)) => (position(a)?, position(b)?),
                None => (position(part)?, position(part)?),
            };
            for i in first..=last {
                bits |= 1 << i;
            }
        }
        Ok(bits)
    }

    /// Targets, oldest first.
    pub fn targets(&self) -> &[String] {
        &self.targets
    }

    /// Blocks.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Counters, block by block.
    pub fn counters(&self) -> &[Definition] {
        self.counters.get(..self.read).unwrap_or_default()
    }

    /// The same with counters that no metric reads, which are last.
    pub fn all(&self) -> &[Definition] {
        &self.counters
    }

    /// The block of a counter.
    pub fn block(&self, d: &Definition) -> &Block {
        &self.blocks[d.block]
    }

    /// True if a target has a counter; for an unknown target (``), if all have it.
    pub fn has(&self, d: &Definition, target: &str) -> bool {
        let bits = self.bits_of(target);
        bits != 0 && d.targets & bits == bits
    }

    /// The targets a name may mean: one; all if it is empty because the GPU is unknown; an empty set if it is
    /// not listed.
    pub fn bits_of(&self, target: &str) -> u32 {
        if target.is_empty() { u32::MAX >> (32 - self.targets.len()) } else { self.target_bit(target) }
    }

    /// The bit of one target in a set; 0 for a target not listed.
    pub fn target_bit(&self, target: &str) -> u32 {
        self.targets.iter().position(|t| t == target).map_or(0, |i| 1 << i)
    }

    /// Targets that have a counter.
    pub fn targets_of<'a>(&'a self, d: &'a Definition) -> impl Iterator<Item = &'a str> {
        self.targets.iter().enumerate().filter(|(i, _)| d.targets >> i & 1 == 1).map(|(_, t)| t.as_str())
    }

    /// A counter by its plain name.
    pub fn get(&self, name: &str) -> Option<&Definition> {
        self.by_name.get(name).map(|i| &self.counters[*i])
    }

    /// A counter by any of its recorded names.
    pub fn find(&self, recorded: &str) -> Option<Name<'_>> {
        let (base, instance) = match recorded.strip_suffix(']').and_then(|n| n.split_once('[')) {
            Some((base, i)) => (base, Some(i.parse::<u32>().ok()?)),
            None => (recorded, None),
        };
        let other = |n: &str| self.respelled.iter().find_map(|it| respell(n, &it.there, &it.here));
        let spelled = |n: &str| self.get(n).or_else(|| self.get(&other(n)?));
        let name = |definition, accumulated| Some(Name { definition, instance, accumulated });
        if let Some(d) = spelled(base) {
            return name(d, false);
        }
        if let Some(d) = base.strip_suffix("_sum").and_then(spelled) {
            return name(d, false);
        }
        name(base.strip_suffix("_ACCUM").and_then(spelled)?, true)
    }

    /// A counter recorded as a reduction over instances other than their sum: `TA_TA_BUSY_max`.
    pub fn find_of_instances(&self, recorded: &str) -> Option<(&Definition, OfInstances)> {
        let of = |(end, of): &(&str, OfInstances)| {
            let name = self.find(recorded.strip_suffix(end)?)?;
            (name.instance.is_none() && !name.accumulated).then_some((name.definition, *of))
        };
        OF_INSTANCES.iter().find_map(of)
    }

    /// Names under which a counter (by its plain name) may have been recorded, the usual one first.
    pub fn spellings(&self, name: &str) -> Vec<String> {
        let mut out = vec![name.to_string()];
        for target in &self.targets {
            let there = self.spelled_on(name, target);
            if !out.iter().any(|it| *it == there) {
                out.push(there.into_owned());
            }
        }
        out
    }

    /// The name that a target's profiler has for a counter (by its plain name).
    pub fn spelled_on<'a>(&self, name: &'a str, target: &str) -> Cow<'a, str> {
        let mut rules = self.respelled.iter().filter(|it| it.target == target);
        rules.find_map(|it| respell(name, &it.here, &it.there)).map_or(Cow::Borrowed(name), Cow::Owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_files_are_well_formed() {
        let c = catalogue();
        assert_eq!(c.targets().len(), 6);
        assert_eq!(c.blocks().len(), 10);
        assert!(c.counters().len() > 300, "{}", c.counters().len());
        assert!(c.all().len() > 430, "{}", c.all().len());
        for d in c.all() {
            assert!(c.targets_of(d).count() > 0, "{}", d.name);
            assert!(
                !d.meaning.ends_with('.') && d.meaning.chars().next().unwrap().is_uppercase(),
                "{}",
                d.meaning
            );
        }
    }

    #[test]
    fn recorded_names_are_taken_apart() {
        let c = catalogue();
        let levels: Vec<&str> =
            c.counters().iter().filter(|it| it.is_level()).map(|it| it.name.as_str()).collect();
        assert_eq!(
            levels,
            [
                "SQ_IFETCH_LEVEL",
                "SQ_INST_LEVEL_LDS",
                "SQ_INST_LEVEL_SMEM",
                "SQ_INST_LEVEL_VMEM",
                "SQ_LEVEL_WAVES"
            ]
        );
        for (recorded, name, instance, accumulated) in [
            ("SQ_WAVES", "SQ_WAVES", None, false),
            ("TCC_HIT_sum", "TCC_HIT", None, false),
            ("TCC_HIT[17]", "TCC_HIT", Some(17), false),
            ("TCC_EA_RDREQ_sum", "TCC_EA0_RDREQ", None, false),
            ("TCC_EA_RDREQ[3]", "TCC_EA0_RDREQ", Some(3), false),
            ("SQ_LEVEL_WAVES_ACCUM", "SQ_LEVEL_WAVES", None, true),
        ] {
            let n = c.find(recorded).unwrap();
            assert_eq!(
                (n.definition.name.as_str(), n.instance, n.accumulated),
                (name, instance, accumulated)
            );
        }
        for (recorded, name, of) in [
            ("TA_TA_BUSY_max", "TA_TA_BUSY", OfInstances::Largest),
            ("TCC_EA_WRREQ_STALL_min", "TCC_EA0_WRREQ_STALL", OfInstances::Least),
            ("TCC_BUSY_avr", "TCC_BUSY", OfInstances::Mean),
        ] {
            let (definition, found) = c.find_of_instances(recorded).unwrap();
            assert_eq!((definition.name.as_str(), found), (name, of));
        }
        assert_eq!(c.find_of_instances("SQ_WAVEZ_max"), None);
        for unknown in ["SQ_WAVEZ", "TCC_HIT[x]", "", "_sum", "[1]"] {
            assert_eq!(c.find(unknown), None);
        }
    }

    #[test]
    fn errors_name_file_and_line() {
        let parse = |row: &str| {
            Catalogue::parse("gfx1\ngfx2\n", "SQ\t8\tCU\tx\n", &[("a.tsv", &format!("# h\n{row}\n"))], &[])
                .unwrap_err()
                .to_string()
        };
        for row in [
            "SQ_A\tfunctional\treq\tall",
            "XX_A\tfunctional\treq\tall\tx",
            "SQ_A\tother\treq\tall\tx",
            "SQ_A\tcache\treq\tgfx3..\tx",
            "SQ_A\tcache\treq\tall\tx\nSQ_A\tcache\treq\tall\tx",
        ] {
            testkit::golden(&format!("{row:?}"), &parse(row));
        }
    }
}
