//! A wider space than the program lists, with the rules that make its configurations legal on a GPU.

use super::message::Begin;
use anyhow::{Context, Result};
use arch::Model;
use serde::Deserialize;
use sorting::Sort;
use std::sync::OnceLock;
use tune::{Limits, Parameter, Space, Value};

/// Configurations that were left out before the first run, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LeftOut {
    /// Number of configurations.
    pub configurations: u64,
    /// The rule, in words.
    pub why: String,
}

/// Added parameters, and the rules.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rules {
    parameter: Vec<Added>,
    blocks: Blocks,
    role: Vec<Role>,
    rule: Vec<Rule>,
}

/// A parameter with the values that it gets.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Added {
    name: String,
    values: Vec<i64>,
    /// Only for kernels with this.
    needs: Option<String>,
    /// Only on GPUs whose workgroups have at most this number of bytes of LDS.
    most_lds: Option<i64>,
}

/// Which parameters are sizes of blocks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Blocks {
    pattern: String,
    least: i64,
}

/// Names of a parameter that rules are about.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Role {
    name: String,
    parameters: Vec<String>,
}

/// A condition on configurations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    expression: String,
    why: String,
}

fn rules() -> Result<&'static Rules> {
    static RULES: OnceLock<Result<Rules, String>> = OnceLock::new();
    let read = || toml::from_str(include_str!("widen.toml")).map_err(|error| error.to_string());
    RULES.get_or_init(read).as_ref().map_err(|error| anyhow::anyhow!("widen.toml: {error}"))
}

/// A wider space.
pub(super) struct Widened {
    pub(super) space: Space,
    /// Parameters that configurations outside of the list set.
    pub(super) set: Vec<usize>,
    pub(super) left_out: Vec<LeftOut>,
}

/// Widens the space of a kernel. Configurations of the list stay, unless a rule forbids them.
pub(super) fn widened(begin: &Begin, listed: &[Parameter], model: &'static Model) -> Result<Widened> {
    let rules = rules()?;
    let lds = i64::from(model.target().lds.bytes_per_workgroup.value);
    let mut parameters = listed.to_vec();
    let mut set: Vec<usize> = Vec::new();
    for (at, parameter) in parameters.iter_mut().enumerate() {
        if begin.grid_follows && parameter.name.contains(&rules.blocks.pattern) {
            widen_block(parameter, if begin.dot { rules.blocks.least } else { 1 });
        }
        if parameter.values.len() > 1 && parameter.name != "pre_hook" {
            set.push(at);
        }
    }
    for added in &rules.parameter {
        let fits = added.needs.is_none() || begin.dot;
        let fits = fits && added.most_lds.is_none_or(|most| lds <= most);
        if fits && !begin.own.contains(&added.name) {
            add(&mut parameters, added, &mut set);
        }
    }
    // What a configuration outside of the list takes from the first of the list has no other values.
    for (at, parameter) in parameters.iter_mut().enumerate() {
        if !set.contains(&at) {
            parameter.values.truncate(1);
        }
    }
    set.in_order();
    let (expressions, whys) = applied(rules, begin, &parameters, model);
    let space = Space::new(parameters, &expressions, Limits::default()).context("the wider space")?;
    let mut left_out: Vec<LeftOut> = Vec::new();
    for (removed, why) in space.removed().unwrap_or_default().iter().zip(whys) {
        let configurations = u64::try_from(removed.in_order).unwrap_or(u64::MAX);
        if configurations > 0 {
            left_out.push(LeftOut { configurations, why: format!("{why}: not `{}`", removed.constraint) });
        }
    }
    Ok(Widened { space, set, left_out })
}

/// Powers of two from half the least to twice the most; other values stay alone.
fn widen_block(parameter: &mut Parameter, least: i64) {
    let whole = |it: &Value| match it {
        Value::Int(it) if *it > 0 && it.count_ones() == 1 => Some(*it),
        _ => None,
    };
    let Some(values) = parameter.values.iter().map(whole).collect::<Option<Vec<i64>>>() else { return };
    let (Some(low), Some(high)) = (values.iter().min(), values.iter().max()) else { return };
    let mut next = (low / 2).max(least.min(*low));
    while next <= high.saturating_mul(2) {
        let value = Value::Int(next);
        if !parameter.values.contains(&value) {
            parameter.values.push(value);
        }
        next *= 2;
    }
}

/// Adds values to a parameter, or the parameter, with the compiler's choice first if the list does not set it.
fn add(parameters: &mut Vec<Parameter>, added: &Added, set: &mut Vec<usize>) {
    let at = match parameters.iter().position(|it| it.name == added.name) {
        Some(at) => at,
        None => {
            parameters.push(Parameter { name: added.name.clone(), values: Vec::new() });
            parameters.len() - 1
        }
    };
    let values = &mut parameters[at].values;
    for value in added.values.iter().map(|it| Value::Int(*it)) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    if values.len() > 1 && !set.contains(&at) {
        set.push(at);
    }
}

/// Rules whose names are all known, as expressions over the parameters, with the reasons.
fn applied<'a>(
    rules: &'a Rules,
    begin: &Begin,
    parameters: &[Parameter],
    model: &Model,
) -> (Vec<String>, Vec<&'a str>) {
    let target = model.target();
    let wave = i64::from(target.lanes_per_wave.value);
    let facts = [
        ("wave", wave),
        ("workgroup", wave * i64::from(target.waves_per_workgroup.value)),
        ("lds", i64::from(target.lds.bytes_per_workgroup.value)),
        ("registers", i64::from(target.registers.vgprs_per_lane.value)),
        ("element", begin.bytes.iter().min().map_or(1, |it| *it as i64)),
    ];
    let is_number = |name: &str| {
        let found = parameters.iter().find(|it| it.name == name);
        found.is_some_and(|it| it.values.iter().all(|it| matches!(it, Value::Int(_))))
    };
    let (mut expressions, mut whys) = (Vec::new(), Vec::new());
    for rule in &rules.rule {
        let mut text = rule.expression.clone();
        for (name, value) in facts {
            text = text.replace(&format!("{{{name}}}"), &value.to_string());
        }
        for role in &rules.role {
            if let Some(name) = role.parameters.iter().find(|it| is_number(it)) {
                text = text.replace(&format!("{{{}}}", role.name), name);
            }
        }
        let names = expression::Expression::parse(&text).map(|it| it.names().to_vec()).unwrap_or_default();
        if !text.contains('{') && !names.is_empty() && names.iter().all(|it| is_number(it)) {
            expressions.push(text);
            whys.push(rule.why.as_str());
        }
    }
    (expressions, whys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, values: &[i64]) -> Parameter {
        Parameter { name: name.to_owned(), values: values.iter().map(|it| Value::Int(*it)).collect() }
    }

    #[test]
    fn rules_keep_what_a_gpu_can_run() {
        let model = Model::by_name("mi300x").unwrap();
        let listed =
            [parameter("BLOCK_M", &[64, 128]), parameter("BLOCK_N", &[64]), parameter("BLOCK_K", &[64])];
        for (dot, has) in [(true, true), (false, false)] {
            let begin = Begin { dot, grid_follows: true, bytes: vec![2, 2], ..Begin::default() };
            let widened = widened(&begin, &listed, model).unwrap();
            let names: Vec<&str> = widened.space.parameters().iter().map(|it| it.name.as_str()).collect();
            assert_eq!(names.contains(&"kpack") && names.contains(&"matrix_instr_nonkdim"), has, "{names:?}");
            let at = |name: &str| names.iter().position(|it| *it == name).unwrap();
            for id in 0..widened.space.len() {
                let values: Vec<i64> =
                    widened.space.values(id).iter().map(|it| it.number().unwrap() as i64).collect();
                let [m, n, k] = ["BLOCK_M", "BLOCK_N", "BLOCK_K"].map(|it| values[at(it)]);
                let stages = values[at("num_stages")];
                assert!((m + n) * k * 2 * (stages - 1).max(1) <= 65536, "{values:?}");
            }
            assert!(widened.left_out.iter().any(|it| it.why.contains("LDS")), "{:?}", widened.left_out);
        }
    }

    #[test]
    fn arguments_of_the_kernel_are_not_options() {
        let model = Model::by_name("mi355x").unwrap();
        let begin = Begin { dot: true, own: vec!["waves_per_eu".to_owned()], ..Begin::default() };
        let widened = widened(&begin, &[parameter("BLOCK", &[64])], model).unwrap();
        let names: Vec<&str> = widened.space.parameters().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["BLOCK", "num_warps", "num_stages", "matrix_instr_nonkdim"]);
    }
}
