//! The table of environment variables that decide how fast GPU programs run, or that stop them from being
//! fast.
//!
//! Facts are rows of `data/variables.tsv`, with where each was read; the code here only looks them up.

use std::collections::BTreeMap;
use std::sync::LazyLock;

const TABLE: &str = include_str!("../data/variables.tsv");

/// In [`Variable::instead`]: nothing is read in its place.
pub const NOBODY: &str = "-";

/// One variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Variable {
    /// Name.
    pub name: &'static str,
    /// Component that reads it: `RCCL`, `HIP`, `PyTorch`, ...
    pub component: &'static str,
    /// Versions that read it; empty where all do.
    pub versions: &'static str,
    /// Value in force when it is not set; `-` if that depends.
    pub default: &'static str,
    /// Values it takes.
    pub values: &'static str,
    /// Effect.
    pub effect: &'static str,
    /// Condition for setting it.
    pub advice: &'static str,
    /// Left on after debugging it costs time: the value from which on it does, `set` for any.
    pub debug: Option<&'static str>,
    /// Another variable with the value without which this one does nothing: `VLLM_ROCM_USE_AITER=1`.
    pub needs: Option<(&'static str, &'static str)>,
    /// Variables it must not be combined with, with their values: `A=1`, or `A` for any value.
    pub conflicts: Vec<&'static str>,
    /// No program reads it; the name that is read instead, or [`NOBODY`].
    pub instead: Option<&'static str>,
    /// Source of this row.
    pub source: &'static str,
}

impl Variable {
    /// Whether a value left on after debugging costs time.
    pub fn is_left_on(&self, value: &str) -> bool {
        let value = value.trim();
        match self.debug {
            None => false,
            _ if value.is_empty() => false,
            Some("set") => true,
            // A switch that is on by default and should stay so.
            Some("0") => value == "0" || value.eq_ignore_ascii_case("false"),
            Some(from) => match (from.parse::<i64>(), value.parse::<i64>()) {
                (Ok(from), Ok(value)) => value >= from,
                (Ok(_), Err(_)) => crate::environment::is_on(value),
                (Err(_), _) => value.eq_ignore_ascii_case(from),
            },
        }
    }

    /// True if the variable it needs is set, or it needs none.
    pub fn has_master(&self, environment: &crate::Environment) -> bool {
        let Some((name, wanted)) = self.needs else { return true };
        let Some(value) = environment.said(name) else { return false };
        match wanted.parse::<i64>() {
            Ok(_) => crate::environment::is_on(value),
            // A log level: any is enough for its parts to be chosen.
            Err(_) => true,
        }
    }
}

static VARIABLES: LazyLock<Vec<Variable>> = LazyLock::new(|| TABLE.lines().filter_map(row).collect());
static BY_NAME: LazyLock<BTreeMap<&'static str, usize>> =
    LazyLock::new(|| VARIABLES.iter().enumerate().map(|(at, it)| (it.name, at)).collect());

fn row(line: &'static str) -> Option<Variable> {
    if line.is_empty() || line.starts_with('#') || line.starts_with("name\t") {
        return None;
    }
    let fields: Vec<&'static str> = line.split('\t').collect();
    let [name, component, versions, default, values, effect, advice, relations, source] = fields[..] else {
        return None;
    };
    let mut variable = Variable {
        name,
        component,
        versions: versions.trim_start_matches('-'),
        default,
        values,
        effect,
        advice: advice.trim_start_matches('-'),
        debug: None,
        needs: None,
        conflicts: Vec::new(),
        instead: None,
        source,
    };
    for relation in relations.split("; ") {
        match relation.split_once(' ') {
            Some(("debug", value)) => variable.debug = Some(value),
            Some(("needs", wanted)) => variable.needs = wanted.split_once('='),
            Some(("conflicts", other)) => variable.conflicts.push(other),
            Some(("instead", name)) => variable.instead = Some(name),
            _ => {}
        }
    }
    Some(variable)
}

/// Every variable, in the order of the table: by component.
pub fn all() -> &'static [Variable] {
    &VARIABLES
}

/// The variable of this name.
pub fn by_name(name: &str) -> Option<&'static Variable> {
    BY_NAME.get(name).map(|at| &VARIABLES[*at])
}

/// A variable to set, of `data/recommended.tsv`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recommended {
    /// Name.
    pub name: &'static str,
    /// Value.
    pub value: &'static str,
    /// Reason.
    pub why: &'static str,
}

/// Variables to set for a kind of work: `training`, `inference`, ...
pub fn recommended(work: &str) -> Vec<Recommended> {
    let lines = include_str!("../data/recommended.tsv").lines().filter(|it| !it.starts_with(['#', 'w']));
    let rows = lines.filter_map(|line| {
        let mut fields = line.split('\t');
        let (of, name, value, why) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
        (of == work || (of == "-" && work != "debug")).then_some(Recommended { name, value, why })
    });
    rows.collect()
}

/// Beginnings of names that only the components of the table use, with the component.
const PREFIXES: &str = include_str!("../data/prefixes.tsv");

/// The component that alone uses names like this one.
pub fn component(name: &str) -> Option<&'static str> {
    by_name(name).map(|it| it.component).or_else(|| {
        PREFIXES
            .lines()
            .filter_map(|it| it.split_once('\t'))
            .find(|(it, _)| name.starts_with(it))
            .map(|(_, it)| it)
    })
}

/// The variable whose name differs least from one that does not exist, if it differs little.
pub fn nearest(name: &str) -> Option<&'static Variable> {
    // A letter or two in a long name; none in a short one.
    let most = match name.len() {
        0..=6 => 1,
        7..=14 => 2,
        _ => 3,
    };
    let name = name.to_ascii_uppercase();
    let near = all().iter().filter(|it| it.name.len().abs_diff(name.len()) <= most);
    let distances = near.map(|it| (strsim::levenshtein(&name, &it.name.to_ascii_uppercase()), it));
    let close = distances.filter(|(it, _)| *it <= most).min_by_key(|(it, _)| *it).map(|(_, it)| it);
    close.or_else(|| with_words_left_out(&name))
}

/// The one variable whose name has all words of another in their order, and at most two more.
fn with_words_left_out(name: &str) -> Option<&'static Variable> {
    let words: Vec<&str> = name.split('_').collect();
    let fits = |it: &&Variable| {
        let mut own = it.name.split('_');
        let more = it.name.split('_').count().checked_sub(words.len());
        more.is_some_and(|it| (1..=2).contains(&it)) && words.iter().all(|word| own.any(|it| it == *word))
    };
    let mut found = all().iter().filter(fits);
    let first = found.next().filter(|_| words.len() >= 4)?;
    found.next().is_none().then_some(first)
}

/// Words in names whose values stay out of bundles: secrets, and addresses of hosts.
const SECRETS: [&str; 9] =
    ["KEY", "TOKEN", "SECRET", "PASSW", "CREDENTIAL", "AUTH", "COOKIE", "HOST_IP", "COMM_ID"];

/// True if a variable goes into a bundle: variables of the table, and numbers and switches of its components.
/// Possible secrets never do.
pub fn is_captured(name: &str, value: &str) -> bool {
    if SECRETS.iter().any(|word| name.contains(word)) {
        return false;
    }
    let harmless = value.len() <= 6 && value.bytes().all(|it| it.is_ascii_digit())
        || ["true", "false", "on", "off", "yes", "no"].iter().any(|it| it.eq_ignore_ascii_case(value));
    by_name(name).is_some() || (component(name).is_some() && harmless)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Columns of the table.
    const COLUMNS: usize = 9;

    #[test]
    fn the_table_is_whole() {
        let rows: Vec<&str> = TABLE.lines().filter(|it| !it.is_empty() && !it.starts_with('#')).collect();
        assert!(rows[0].starts_with("name\tcomponent\t"));
        for line in &rows {
            assert_eq!(line.split('\t').count(), COLUMNS, "{line}");
            assert!(line.split('\t').all(|it| !it.is_empty() && it.trim() == it), "{line}");
        }
        assert_eq!(all().len(), rows.len() - 1);
        assert!(all().len() >= 600, "{} variables", all().len());
        for line in &rows[1..] {
            let relations = line.split('\t').nth(7).unwrap();
            for relation in relations.split("; ").filter(|it| *it != "-") {
                let (word, rest) = relation.split_once(' ').unwrap_or((relation, ""));
                let whole = match word {
                    "needs" => rest.contains('='),
                    "debug" | "conflicts" | "instead" => !rest.is_empty(),
                    _ => false,
                };
                assert!(whole && !rest.contains(' '), "{line}: `{relation}`");
            }
        }
        let mut components: Vec<&str> = all().iter().map(|it| it.component).collect();
        components.dedup();
        let distinct: BTreeSet<&str> = components.iter().copied().collect();
        assert_eq!(distinct.len(), components.len(), "the rows of a component are not together");
        let names: BTreeSet<&str> = all().iter().map(|it| it.name).collect();
        assert_eq!(names.len(), all().len(), "a name twice");
        for variable in all() {
            let others = variable.conflicts.iter().map(|it| it.split('=').next().unwrap());
            let others = others
                .chain(variable.needs.map(|(name, _)| name))
                .chain(variable.instead.filter(|it| *it != NOBODY));
            for other in others {
                assert!(names.contains(other), "{}: `{other}` is not in the table", variable.name);
            }
            assert!(variable.source.len() > 3, "{}", variable.name);
        }
    }

    #[test]
    fn nearest_names() {
        for (name, expected) in [
            ("NCCL_MIN_NCHANELS", Some("NCCL_MIN_NCHANNELS")),
            ("HIP_FORCE_DEVKERNARG", Some("HIP_FORCE_DEV_KERNARG")),
            ("GPU_MAX_HW_QUEUE", Some("GPU_MAX_HW_QUEUES")),
            ("NCCL_SOMETHING_ELSE", None),
            ("VLLM_USE_AITER_FUSION_SHARED_EXPERTS", Some("VLLM_ROCM_USE_AITER_FUSION_SHARED_EXPERTS")),
            ("VLLM_USE_AITER", None),
            ("PYTORCH_TUNABLEOP_VEROBSE", Some("PYTORCH_TUNABLEOP_VERBOSE")),
            ("X", None),
        ] {
            assert_eq!(nearest(name).map(|it| it.name), expected, "{name}");
        }
    }

    #[test]
    fn recommended_variables_are_in_the_table() {
        for work in ["benchmark", "training", "inference", "debug", "distributed"] {
            let rows = recommended(work);
            assert!(!rows.is_empty(), "{work}");
            for row in rows {
                assert!(by_name(row.name).is_some() && !row.why.is_empty(), "{}", row.name);
            }
        }
        assert!(recommended("debug").iter().all(|it| it.name != "HIP_FORCE_DEV_KERNARG"));
    }

    #[test]
    fn secrets_stay_out() {
        for (name, value, expected) in [
            ("NCCL_DEBUG", "INFO", true),
            ("VLLM_API_KEY", "123", false),
            ("HF_TOKEN", "hf_x", false),
            ("VLLM_HOST_IP", "10.0.0.7", false),
            ("NCCL_UNHEARD_OF", "1", true),
            ("NCCL_UNHEARD_OF", "/home/me", false),
            ("PATH", "/usr/bin", false),
        ] {
            assert_eq!(is_captured(name, value), expected, "{name}={value}");
        }
    }
}
