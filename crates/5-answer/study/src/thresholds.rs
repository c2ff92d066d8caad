//! Threshold files of `rockhound diff`.
//!
//! A limit says how far a value may move in one direction. `+4`: at most 4 more; `-0`: nothing less; `+10%`:
//! at most a tenth more. A value without a limit may move freely.

use std::fmt;
use view::{Comparison, KernelComparison};

/// One limit.
#[derive(Clone, PartialEq, Debug)]
pub struct Limit {
    /// Metric: `vgprs`, `findings.severe`, `kernels.removed`.
    key: String,
    /// Original text: `+4`.
    written: String,
    up: bool,
    amount: f64,
    percent: bool,
}

/// Keys of the whole comparison instead of one kernel.
const KERNEL_KEYS: [&str; 2] = ["kernels.added", "kernels.removed"];
/// Families of keys with a free second part.
const FAMILIES: [&str; 5] = ["mix.", "loads.", "stores.", "lds.", "findings."];

/// Error in a threshold file.
#[derive(Debug, PartialEq)]
pub struct ThresholdError(String);

impl fmt::Display for ThresholdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Reads a threshold file.
pub fn parse(text: &str) -> Result<Vec<Limit>, ThresholdError> {
    let table: toml::Table = text.parse().map_err(|error: toml::de::Error| {
        ThresholdError(error.message().to_owned() + &position(text, &error))
    })?;
    let mut limits = Vec::new();
    flatten("", &table, &mut limits)?;
    Ok(limits)
}

fn position(text: &str, error: &toml::de::Error) -> String {
    error.span().map_or_else(String::new, |span| {
        let before = text.get(..span.start).unwrap_or(text);
        format!(" in line {}", before.matches('\n').count() + 1)
    })
}

fn flatten(prefix: &str, table: &toml::Table, limits: &mut Vec<Limit>) -> Result<(), ThresholdError> {
    for (name, value) in table {
        let key = format!("{prefix}{name}");
        match value {
            toml::Value::Table(inner) => flatten(&format!("{key}."), inner, limits)?,
            toml::Value::String(written) => limits.push(limit(key, written)?),
            toml::Value::Array(all) => {
                for value in all {
                    let toml::Value::String(written) = value else { return Err(not_a_limit(&key, value)) };
                    limits.push(limit(key.clone(), written)?);
                }
            }
            other => return Err(not_a_limit(&key, other)),
        }
    }
    Ok(())
}

fn not_a_limit(key: &str, value: &toml::Value) -> ThresholdError {
    ThresholdError(format!("`{key} = {value}` is no limit; limits are texts with a sign, such as `\"+4\"`"))
}

fn limit(key: String, written: &str) -> Result<Limit, ThresholdError> {
    let known = analysis::METRICS.iter().any(|metric| metric.key == key)
        || KERNEL_KEYS.contains(&key.as_str())
        || FAMILIES.iter().any(|family| key.starts_with(family) && key.len() > family.len());
    if !known {
        return Err(ThresholdError(format!("there is no value `{key}`")));
    }
    if let Some(rule) = key.strip_prefix("findings.") {
        let severity = view::Severity::ALL.iter().any(|severity| severity.as_str() == rule);
        if !severity && rules::by_id(rule).is_none() {
            return Err(ThresholdError(format!("`{key}`: there is no rule or severity `{rule}`")));
        }
    }
    let bad = || {
        ThresholdError(format!(
            "`{key} = \"{written}\"` is no limit; it needs a sign and a number, such as `+4` or `-10%`"
        ))
    };
    let (up, rest) = match (written.strip_prefix('+'), written.strip_prefix('-')) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return Err(bad()),
    };
    let (number, percent) = match rest.trim_end().strip_suffix('%') {
        Some(number) => (number, true),
        None => (rest, false),
    };
    let amount: f64 = number.trim().parse().map_err(|_| bad())?;
    if !amount.is_finite() || amount < 0.0 {
        return Err(bad());
    }
    Ok(Limit { key, written: written.to_owned(), up, amount, percent })
}

impl Limit {
    /// True if moving from `old` to `new` exceeds the limit.
    fn broken(&self, old: f64, new: f64) -> bool {
        let moved = if self.up { new - old } else { old - new };
        let allowed = if self.percent { old.abs() * self.amount / 100.0 } else { self.amount };
        moved > allowed + 1e-9
    }
}

/// Marks every change beyond a limit and counts them. Counts of findings of one rule are told by the findings
/// themselves; they stay in the list only where a limit is broken.
pub fn apply(limits: &[Limit], comparison: &mut Comparison) -> u64 {
    let mut regressions = 0;
    for kernel in &mut comparison.changed {
        regressions += apply_to_kernel(limits, kernel);
    }
    for (key, count) in
        [("kernels.added", comparison.added.len()), ("kernels.removed", comparison.removed.len())]
    {
        let broken = limits.iter().any(|limit| limit.key == key && limit.broken(0.0, count as f64));
        regressions += u64::from(broken);
    }
    regressions
}

fn apply_to_kernel(limits: &[Limit], kernel: &mut KernelComparison) -> u64 {
    let mut regressions = 0;
    for change in &mut kernel.changes {
        // An unknown value does not fail: the change is shown, with a question mark.
        let (Some(old), Some(new)) = (change.old, change.new) else { continue };
        let broken = limits.iter().find(|limit| limit.key == change.metric && limit.broken(old, new));
        if let Some(limit) = broken {
            change.breaks = Some(limit.written.clone());
            regressions += 1;
        }
    }
    kernel.changes.retain(|change| {
        let of_one_rule =
            change.metric.strip_prefix("findings.").is_some_and(|rule| rules::by_id(rule).is_some());
        !of_one_rule || change.breaks.is_some()
    });
    regressions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_moves() {
        for (written, old, new, broken) in [
            ("+4", 10.0, 14.0, false),
            ("+4", 10.0, 15.0, true),
            ("+4", 10.0, 1.0, false),
            ("-0", 5.0, 5.0, false),
            ("-0", 5.0, 4.0, true),
            ("-0", 5.0, 6.0, false),
            ("+10%", 100.0, 110.0, false),
            ("+10%", 100.0, 111.0, true),
            ("+10%", 0.0, 1.0, true),
            ("-50 %", 8.0, 4.0, false),
            ("+0.5", 1.0, 1.75, true),
        ] {
            let limit = limit("vgprs".to_owned(), written).unwrap();
            assert_eq!(limit.broken(old, new), broken, "{written}: {old} to {new}");
        }
    }

    #[test]
    fn files() {
        let limits = parse("vgprs = [\"+4\", \"-8\"]\nfindings.severe = \"+0\"\n[mix]\nmfma = \"-0\"\n[loads]\n16 = \"-10%\"\n").unwrap();
        let mut keys: Vec<&str> = limits.iter().map(|limit| limit.key.as_str()).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["findings.severe", "loads.16", "mix.mfma", "vgprs", "vgprs"]);
        for (text, message) in [
            ("vgprs = 4", "`vgprs = 4` is no limit"),
            ("vgprs = \"4\"", "needs a sign and a number"),
            ("vgprs = \"+x\"", "needs a sign and a number"),
            ("vgprs = \"+nan\"", "needs a sign and a number"),
            ("vgpr = \"+4\"", "there is no value `vgpr`"),
            ("findings.RES999 = \"+0\"", "there is no rule or severity `RES999`"),
            ("a\nvgprs = \"+4", "in line 1"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
