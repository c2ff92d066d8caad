//! The registry: the counters that follow from execution, with rule and evidence.
//!
//! Rules are rows of `data/rules.tsv`. A counter without a row cannot be derived from execution alone; its
//! class gives the reason.

use crate::event::{Source, Totals};
use counters::{Catalogue, Class, Definition, catalogue};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Evidence for a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Basis {
    /// Equals recordings in which the counter is not 0.
    Recorded,
    /// Equals recordings, all of which have 0.
    Zero,
    /// Follows from the definition of the counter.
    Defined,
    /// Extrapolated from recordings.
    Inferred,
    /// A count of modelled caches, which depends on what happens at the same time.
    Modelled,
}

impl Basis {
    /// Its word in the data file and in the documentation.
    pub const fn word(self) -> &'static str {
        match self {
            Basis::Recorded => "recorded",
            Basis::Zero => "zero",
            Basis::Defined => "defined",
            Basis::Inferred => "inferred",
            Basis::Modelled => "modelled",
        }
    }

    /// All, in the order of the documentation.
    pub const ALL: [Basis; 5] =
        [Basis::Recorded, Basis::Zero, Basis::Defined, Basis::Inferred, Basis::Modelled];
}

/// Formula of a counter over events.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Formula {
    /// Sum of events with factors; missing where the event `unless` happened.
    Sum {
        /// Events with factors; an empty list gives 0.
        terms: Vec<(u64, Source)>,
        /// If this event occurred, the value is unknown.
        unless: Option<Source>,
    },
    /// No rule exists.
    Missing,
}

/// One rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// Counter.
    pub counter: String,
    /// Targets, a bit per target of the counter catalogue.
    pub targets: u32,
    /// Formula as written.
    pub text: String,
    /// Formula.
    pub formula: Formula,
    /// Evidence for the rule.
    pub basis: Basis,
    /// The rule in words; empty for a missing one.
    pub rule: String,
    /// Open questions; empty if there are none.
    pub open: Arc<str>,
}

/// A counter's value, or why there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// Counted.
    Known(u64),
    /// Not known, with the reason.
    Missing(Arc<str>),
}

impl Value {
    /// The value, if it is known.
    pub fn known(&self) -> Option<u64> {
        match self {
            Value::Known(value) => Some(*value),
            Value::Missing(_) => None,
        }
    }
}

/// An error of the data file.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("rules.tsv:{line}: {what}")]
pub struct RegistryError {
    /// Line, 1-based.
    pub line: usize,
    /// The error.
    pub what: String,
}

/// All rules.
#[derive(Debug)]
pub struct Registry {
    rules: Vec<Rule>,
    /// Places of the rules of each counter.
    by_counter: HashMap<String, Vec<usize>>,
}

/// The registry compiled into the program.
pub fn registry() -> &'static Registry {
    static REGISTRY: OnceLock<Registry> = OnceLock::new();
    REGISTRY.get_or_init(|| {
        Registry::parse(include_str!("../data/rules.tsv"), catalogue())
            .expect("the data file of this crate is well formed, which a test checks")
    })
}

impl Registry {
    /// Reads a data file; counters and targets come from the catalogue.
    pub fn parse(text: &str, catalogue: &Catalogue) -> Result<Registry, RegistryError> {
        let mut rules: Vec<Rule> = Vec::new();
        for (number, row) in text.lines().enumerate() {
            if row.is_empty() || row.starts_with('#') {
                continue;
            }
            let fail = |what: String| RegistryError { line: number + 1, what };
            let rule = rule(row, catalogue).map_err(fail)?;
            let twice = |other: &&Rule| other.counter == rule.counter && other.targets & rule.targets != 0;
            if rules.iter().find(twice).is_some() {
                return Err(fail(format!("`{}` has two rules for one target", rule.counter)));
            }
            rules.push(rule);
        }
        let mut by_counter: HashMap<String, Vec<usize>> = HashMap::new();
        for (place, rule) in rules.iter().enumerate() {
            by_counter.entry(rule.counter.clone()).or_default().push(place);
        }
        Ok(Registry { rules, by_counter })
    }

    /// All rules, in the order of the data file.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The rule of a counter on a target.
    pub fn rule(&self, counter: &str, target: &str) -> Option<&Rule> {
        let bit = catalogue().target_bit(target);
        let places = self.by_counter.get(counter)?.iter();
        places.filter_map(|place| self.rules.get(*place)).find(|rule| rule.targets & bit != 0)
    }
}

/// A counter by its rule.
pub fn value(definition: &Definition, rule: Option<&Rule>, totals: &Totals) -> Value {
    let missing = |class: Class| Value::Missing(shared_reason(class));
    let Some(rule) = rule else { return missing(definition.class) };
    let (terms, unless) = match &rule.formula {
        Formula::Missing => return Value::Missing(rule.open.clone()),
        Formula::Sum { terms, unless } => (terms, unless),
    };
    if unless.and_then(|source| totals.source(source)).unwrap_or(0) > 0 {
        return Value::Missing(rule.open.clone());
    }
    if definition.class == Class::Cache && totals.caches.is_none() {
        return missing(Class::Cache);
    }
    let values = terms.iter().map(|&(factor, source)| Some(factor * totals.source(source)?));
    values.sum::<Option<u64>>().map_or_else(|| missing(definition.class), Value::Known)
}

/// A counter of the L2 by its rule, channel by channel; empty for others.
pub fn channels(rule: Option<&Rule>, totals: &Totals) -> Vec<u64> {
    let (Some(rule), Some(tally)) = (rule, &totals.caches) else { return Vec::new() };
    let Formula::Sum { terms, .. } = &rule.formula else { return Vec::new() };
    let count = |source: Source| match source {
        Source::Cache(count) if count.per_channel() => Some(count),
        _ => None,
    };
    let Some(terms) =
        terms.iter().map(|&(factor, source)| Some((factor, count(source)?))).collect::<Option<Vec<_>>>()
    else {
        return Vec::new();
    };
    let of = |channel| terms.iter().map(|&(factor, count)| factor * tally.of_channel(count, channel)).sum();
    (0..tally.channels()).map(of).collect()
}

/// A reason of which all values have one copy: a dispatch has hundreds.
fn shared_reason(class: Class) -> Arc<str> {
    static REASONS: OnceLock<[Arc<str>; 4]> = OnceLock::new();
    const CLASSES: [Class; 4] = [Class::Functional, Class::Cache, Class::Timing, Class::Firmware];
    let reasons = REASONS.get_or_init(|| CLASSES.map(|it| Arc::from(reason(it))));
    reasons[CLASSES.iter().position(|it| *it == class).unwrap_or(0)].clone()
}

/// Reason why a counter without rule cannot be derived from execution.
pub fn reason(class: Class) -> &'static str {
    match class {
        Class::Functional => "no rule is known yet",
        Class::Cache => "depends on what the caches hold, which was not followed",
        Class::Timing => "depends on when what happens, which is not modelled",
        Class::Firmware => "depends on firmware and driver, which are not emulated",
    }
}

fn rule(row: &str, catalogue: &Catalogue) -> Result<Rule, String> {
    let fields: Vec<&str> = row.split('\t').collect();
    let [counter, targets, text, basis, rule, open] = fields[..] else {
        return Err("a row has 6 fields".into());
    };
    let definition = catalogue.get(counter).ok_or_else(|| format!("`{counter}` is no counter"))?;
    let targets = catalogue.target_bits(targets)?;
    let known = catalogue.targets_of(definition).fold(0, |bits, name| bits | catalogue.target_bit(name));
    let basis = Basis::ALL
        .into_iter()
        .find(|known| known.word() == basis)
        .ok_or_else(|| format!("`{basis}` is no basis"))?;
    let absent = |text: &str| if text == "-" { String::new() } else { text.to_string() };
    let formula = formula(text)?;
    if absent(open).is_empty() && !matches!(&formula, Formula::Sum { unless: None, .. }) {
        return Err("what may be missing needs a reason".into());
    }
    Ok(Rule {
        counter: counter.to_string(),
        targets: targets & known,
        text: text.to_string(),
        formula,
        basis,
        rule: absent(rule),
        open: absent(open).into(),
    })
}

fn formula(text: &str) -> Result<Formula, String> {
    if text == "missing" {
        return Ok(Formula::Missing);
    }
    let event = |name: &str| Source::by_name(name).ok_or_else(|| format!("`{name}` is no event"));
    let (sum, unless) = match text.split_once(" unless ") {
        Some((sum, name)) => (sum, Some(event(name)?)),
        None => (text, None),
    };
    let mut terms = Vec::new();
    for term in sum.split(" + ").filter(|term| *term != "0") {
        let (factor, name) = term.split_once('*').unwrap_or(("1", term));
        let factor = factor.parse().map_err(|_| format!("`{factor}` is no factor"))?;
        terms.push((factor, event(name)?));
    }
    Ok(Formula::Sum { terms, unless })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Event;

    #[test]
    fn every_counter_of_execution_and_caches_has_a_rule_and_no_other_has() {
        let catalogue = catalogue();
        for definition in catalogue.counters() {
            for target in catalogue.targets_of(definition) {
                let has = registry().rule(&definition.name, target).is_some();
                let wanted = matches!(definition.class, Class::Functional | Class::Cache);
                let allowed = wanted || definition.class == Class::Timing;
                assert!(has == wanted || (has && allowed), "{} on {target}", definition.name);
            }
        }
    }

    #[test]
    fn formulas_are_read() {
        let sum = |terms: &[(u64, Event)], unless: Option<Event>| {
            let terms = terms.iter().map(|&(factor, event)| (factor, Source::Event(event))).collect();
            Ok(Formula::Sum { terms, unless: unless.map(Source::Event) })
        };
        let cases = [
            ("wave", sum(&[(1, Event::Wave)], None)),
            ("valu + 2*wave", sum(&[(1, Event::Valu), (2, Event::Wave)], None)),
            ("0", sum(&[], None)),
            ("0 unless buffer", sum(&[], Some(Event::Buffer))),
            ("missing", Ok(Formula::Missing)),
            ("waves", Err("`waves` is no event".to_string())),
            ("x*wave", Err("`x` is no factor".to_string())),
            ("", Err("`` is no event".to_string())),
        ];
        for (text, want) in cases {
            assert_eq!(formula(text), want, "{text}");
        }
    }

    #[test]
    fn errors_name_the_line() {
        let parse = |text: &str| Registry::parse(text, catalogue()).unwrap_err().to_string();
        for (row, error) in [
            ("SQ_WAVES\tall\twave\tdefined\tx", "rules.tsv:2: a row has 6 fields"),
            ("SQ_WAVEZ\tall\twave\tdefined\tx\t-", "rules.tsv:2: `SQ_WAVEZ` is no counter"),
            ("SQ_WAVES\tall\twave\tguessed\tx\t-", "rules.tsv:2: `guessed` is no basis"),
            ("SQ_WAVES\tall\tmissing\tdefined\tx\t-", "rules.tsv:2: what may be missing needs a reason"),
            (
                "SQ_WAVES\tall\twave\tdefined\tx\t-\nSQ_WAVES\tgfx90a\twave\tdefined\tx\t-",
                "rules.tsv:3: `SQ_WAVES` has two rules for one target",
            ),
        ] {
            assert_eq!(parse(&format!("# h\n{row}\n")), error);
        }
    }
}
