//! Metrics and counters explained: formulas, required counters, number of runs to record them.
//!
//! Everything here is derived from the definitions; targets on which a metric is the same are grouped.

use super::blocks::Blocks;
use super::select::{some_of, wrong};
use counters::{Definition, Need, catalogue, derived, plan};
use metrics::{Compiled, Definitions, Metric};
use std::collections::BTreeSet;
use view::{
    CounterCard, MetricCard, MetricRow, MetricVariant, MetricsReport, NamedFormula, TargetMetrics, UsageError,
};

/// Explains what was requested (everything when nothing was) on the targets given.
pub fn explain(
    definitions: &Definitions,
    compiled: &[Compiled],
    asked: &[String],
) -> Result<MetricsReport, UsageError> {
    // Derived counters are explained as metrics are: what they are is a formula.
    let hardware = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_uppercase()) && definitions.derived(name).is_none()
    };
    let (counters, rest): (Vec<&String>, Vec<&String>) = asked.iter().partition(|name| hardware(name));
    let counters =
        counters.into_iter().map(|name| counter(definitions, compiled, name)).collect::<Result<_, _>>()?;
    let rest: Vec<String> = rest.into_iter().cloned().collect();
    let chosen: Vec<&Metric> = if rest.is_empty() {
        if asked.is_empty() { in_table_order(definitions, compiled) } else { Vec::new() }
    } else {
        chosen(definitions, compiled, &rest)?
    };
    let everything: Vec<&str> = definitions.metrics().iter().map(|m| m.id.as_str()).collect();
    let names: Vec<&str> = chosen.iter().map(|m| m.id.as_str()).collect();
    Ok(MetricsReport {
        named: !asked.is_empty(),
        targets: compiled.iter().map(|c| together(c, &everything)).collect(),
        asked: if asked.is_empty() || names.is_empty() {
            Vec::new()
        } else {
            compiled.iter().map(|c| together(c, &names)).collect()
        },
        metrics: chosen.iter().map(|m| card(definitions, compiled, m)).collect(),
        counters,
    })
}

/// All metrics, in the order in which tables show them.
fn in_table_order<'d>(definitions: &'d Definitions, compiled: &[Compiled]) -> Vec<&'d Metric> {
    let mut out: Vec<&Metric> = Vec::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for t in definitions.tables() {
        for row in compiled.iter().rev().flat_map(|c| t.rows(c.target())) {
            out.extend(definitions.metric(&row.metric).filter(|m| seen.insert(&m.id)));
        }
    }
    out.extend(definitions.metrics().iter().filter(|m| !seen.contains(m.id.as_str())));
    out
}

/// Metrics of the rows or names requested, each once.
fn chosen<'d>(
    definitions: &'d Definitions,
    compiled: &[Compiled],
    asked: &[String],
) -> Result<Vec<&'d Metric>, UsageError> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|n| n == name) {
            names.push(name.to_string());
        }
    };
    // A row need not exist on every target, only on one of the requested ones.
    let mut refused = None;
    let mut any = false;
    for c in compiled {
        let blocks = match Blocks::parse(asked, definitions, c.target()) {
            Ok(blocks) => blocks,
            Err(e) => {
                refused = Some(e);
                continue;
            }
        };
        any = true;
        for t in definitions.tables() {
            for (i, row) in t.rows(c.target()).enumerate() {
                if blocks.shows_row(t.id, i, &row.metric) {
                    add(&row.metric);
                }
            }
        }
        blocks.loose().iter().for_each(|name| add(name));
    }
    match refused {
        Some(e) if !any => Err(e),
        _ => Ok(names.iter().filter_map(|n| definitions.metric(n)).collect()),
    }
}

/// Counters and runs that some metrics need together on a target.
fn together(c: &Compiled, metrics: &[&str]) -> TargetMetrics {
    let mut needs: Vec<Need> = Vec::new();
    let mut defined = 0;
    for m in metrics {
        if c.defined(m) {
            defined += 1;
            needs.extend(c.needs(m));
        }
    }
    TargetMetrics {
        target: c.target().to_string(),
        metrics: defined,
        counters: counter_names(&needs).len() as u64,
        passes: passes(c, &needs),
    }
}

fn passes(c: &Compiled, needs: &[Need]) -> Option<u64> {
    plan(catalogue(), c.target(), needs).ok().map(|p| p.passes.len() as u64)
}

fn counter_names(needs: &[Need]) -> BTreeSet<&str> {
    needs
        .iter()
        .flat_map(|n| match n {
            Need::Counter(name) => vec![name.as_str()],
            Need::Level { level, with } => {
                std::iter::once(level.as_str()).chain(with.iter().map(String::as_str)).collect()
            }
        })
        .collect()
}

fn card(definitions: &Definitions, compiled: &[Compiled], m: &Metric) -> MetricCard {
    let mut variants: Vec<MetricVariant> = Vec::new();
    for c in compiled {
        let v = variant(definitions, c, m);
        let like = variants.iter_mut().find(|o| {
            (&o.formula, &o.peak, &o.names, &o.stand_ins, &o.passes)
                == (&v.formula, &v.peak, &v.names, &v.stand_ins, &v.passes)
                && o.counters.iter().map(|c| &c.name).eq(v.counters.iter().map(|c| &c.name))
        });
        match like {
            Some(other) => other.targets.extend(v.targets),
            None => variants.push(v),
        }
    }
    let mut rows: Vec<MetricRow> = Vec::new();
    for c in compiled {
        for t in definitions.tables() {
            for (i, row) in t.rows(c.target()).enumerate().filter(|(_, r)| r.metric == m.id) {
                let id = format!("{}.{}.{i}", t.id.0, t.id.1);
                match rows.iter_mut().find(|r| r.label == row.label && r.table == t.title) {
                    Some(known) if known.id == id => {}
                    // Its number differs between targets; the table's number does not.
                    Some(known) => known.id = format!("{}.{}", t.id.0, t.id.1),
                    None => rows.push(MetricRow { id, label: row.label.clone(), table: t.title.clone() }),
                }
            }
        }
    }
    let derived = definitions.derived(&m.id).and_then(|_| derived().find(&m.id));
    MetricCard {
        metric: m.id.clone(),
        unit: m.unit_text.clone(),
        meaning: derived.map_or_else(String::new, |it| it.meaning.clone()),
        also: derived.map_or_else(Vec::new, |it| it.others.clone()),
        stands_in_for: derived.map_or_else(Vec::new, |it| stands_in_for(definitions, compiled, &it.name)),
        rows,
        variants,
    }
}

/// Metrics of which a derived counter replaces a part.
fn stands_in_for(definitions: &Definitions, compiled: &[Compiled], counter: &str) -> Vec<String> {
    let all = definitions.metrics().iter().map(|it| it.id.as_str());
    let of = |metric: &&str| compiled.iter().any(|c| c.may_stand_in(metric).contains(counter));
    all.filter(of).map(str::to_string).collect()
}

fn variant(definitions: &Definitions, c: &Compiled, m: &Metric) -> MetricVariant {
    let target = c.target();
    let lacks = c.reason(&m.id).map(str::to_string);
    let formula = match (m.formula(target), lacks) {
        (Ok(text), None) => Ok(text.to_string()),
        (_, Some(reason)) => Err(reason),
        (Err(reason), None) => Err(reason.to_string()),
    };
    let peak = m.peak_formula(target).filter(|_| formula.is_ok()).map(str::to_string);
    let mut names: Vec<NamedFormula> = Vec::new();
    let mut open: Vec<String> = formula.iter().chain(&peak).flat_map(|text| words(text)).collect();
    open.reverse();
    while let Some(name) = open.pop() {
        if names.iter().any(|n| n.name == name) {
            continue;
        }
        let Some(text) = definitions.named_formula(&name, target) else { continue };
        open.extend(words(text).into_iter().rev());
        names.push(NamedFormula { formula: text.to_string(), name });
    }
    let stood_in = std::iter::once(m.id.as_str()).chain(names.iter().map(|it| it.name.as_str()));
    let stand_ins = stood_in.flat_map(|name| {
        let formulas = definitions.stand_ins(name, target);
        formulas.map(move |it| NamedFormula { name: name.to_string(), formula: it.to_string() })
    });
    let stand_ins = stand_ins.collect();
    let needs = c.needs(&m.id);
    let cards = counter_names(&needs).into_iter().filter_map(|n| catalogue().get(n)).map(counter_card);
    MetricVariant {
        targets: vec![target.to_string()],
        counters: cards.collect(),
        passes: if needs.is_empty() { None } else { passes(c, &needs) },
        formula,
        peak,
        names,
        stand_ins,
    }
}

/// The lower-case names in a formula, units in brackets left out.
fn words(formula: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut depth = 0usize;
    let mut word = String::new();
    for c in formula.chars().chain([' ']) {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => {}
            c if c.is_ascii_alphanumeric() || c == '_' || c == '.' => {
                word.push(c);
                continue;
            }
            _ => {}
        }
        let done = std::mem::take(&mut word);
        if done.starts_with(|c: char| c.is_ascii_lowercase()) && !out.contains(&done) {
            out.push(done);
        }
    }
    out
}

fn counter_card(d: &Definition) -> CounterCard {
    let block = catalogue().block(d);
    CounterCard {
        name: d.name.clone(),
        block: block.name.clone(),
        block_limit: block.limit as u64,
        unit: d.unit.clone(),
        meaning: d.meaning.clone(),
        targets: catalogue().targets_of(d).map(str::to_string).collect(),
        used_by: Vec::new(),
    }
}

fn counter(definitions: &Definitions, compiled: &[Compiled], asked: &str) -> Result<CounterCard, UsageError> {
    let Some(found) = catalogue().find(asked) else {
        let wanted = asked.to_ascii_uppercase();
        let names = catalogue().all().iter().map(|d| d.name.as_str());
        let names = names.chain(derived().iter().map(|it| it.name.as_str()));
        let mut near: Vec<&str> =
            names.clone().filter(|n| n.to_ascii_uppercase().contains(&wanted)).collect();
        if near.is_empty() {
            near = view::nearest(asked, names);
        }
        let hint = if near.is_empty() {
            "`rockhound metrics` lists metrics; each names its counters".to_string()
        } else {
            some_of(&near, "counters")
        };
        return Err(wrong(format!("there is no counter `{asked}`"), hint));
    };
    let mut card = counter_card(found.definition);
    for m in definitions.metrics() {
        if compiled.iter().any(|c| counter_names(&c.needs(&m.id)).contains(card.name.as_str())) {
            card.used_by.push(m.id.clone());
        }
    }
    Ok(card)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(asked: &[&str]) -> Result<MetricsReport, UsageError> {
        let d = Definitions::built_in();
        let compiled: Vec<Compiled> = catalogue().targets().iter().map(|t| d.compile(t).unwrap()).collect();
        explain(d, &compiled, &asked.iter().map(|a| (*a).to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn names_in_formulas() {
        assert_eq!(
            words("64[flop/instr] * (SQ_A + 2 * fma) / machine.clock + round(x)"),
            ["fma", "machine.clock", "round", "x"]
        );
    }

    #[test]
    fn a_metric_names_its_parts_counters_and_passes() {
        let r = explained(&["compute.vector_iops"]).unwrap();
        let [m] = &r.metrics[..] else { panic!("{r:?}") };
        assert_eq!(m.rows[0].label, "VALU IOPs");
        let v = m.variants.iter().find(|v| v.targets.iter().any(|t| t == "gfx942")).unwrap();
        assert_eq!(v.formula.as_deref(), Ok("vector_ops / time"));
        assert!(v.names.iter().any(|n| n.name == "gpu_clock"), "{:?}", v.names);
        let names: Vec<&str> = v.counters.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["SQ_INSTS_VALU_INT32", "SQ_INSTS_VALU_INT64"]);
        assert_eq!(v.passes, Some(1));
        // The oldest target lacks the counters and reports it.
        let old = m.variants.iter().find(|v| v.targets.iter().any(|t| t == "gfx908")).unwrap();
        assert!(old.formula.as_ref().unwrap_err().contains("SQ_INSTS_VALU_INT"), "{old:?}");
    }

    #[test]
    fn counters_and_what_needs_them() {
        let r = explained(&["TCC_EA_RDREQ"]).unwrap();
        assert_eq!(r.counters[0].name, "TCC_EA0_RDREQ");
        assert!(r.counters[0].used_by.iter().any(|m| m == "fabric.reads"), "{:?}", r.counters[0].used_by);
        let e = explained(&["SQ_WAVEZ"]).unwrap_err();
        assert!(e.message.contains("`SQ_WAVEZ`"), "{}", e.message);
        assert!(explained(&["99.1"]).unwrap_err().message.contains("99.1"));
    }

    #[test]
    fn everything_is_read_in_no_more_runs_than_the_vendors_tool_takes() {
        let r = explained(&[]).unwrap();
        for (target, recorded) in [("gfx90a", 25), ("gfx942", 24)] {
            let t = r.targets.iter().find(|t| t.target == target).unwrap();
            assert!(t.passes.unwrap() <= recorded, "{t:?}");
        }
    }
}
