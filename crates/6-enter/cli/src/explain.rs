//! `rockhound explain`: the rules and their pages.

use crate::args::{Explain, Look};
use crate::exit::{Outcome, usage};
use crate::{output, terminal};
use anyhow::Result;
use render::{json, text};
use view::{Format, RuleInfo};

/// Prints the list of rules, or the pages of the requested ones.
pub(crate) fn run(args: &Explain, look: &Look) -> Result<Outcome> {
    let rules = study::rules();
    let wanted = args.rule.as_deref().map(str::to_ascii_uppercase);
    let chosen: Vec<RuleInfo> = match &wanted {
        None => rules.clone(),
        Some(wanted) => rules.iter().filter(|rule| rule.id.starts_with(wanted.as_str())).cloned().collect(),
    };
    if let (Some(wanted), true) = (&args.rule, chosen.is_empty()) {
        return Err(unknown_rule(wanted));
    }
    let style = terminal::style(look, false);
    let exact = chosen.iter().find(|rule| wanted.as_deref() == Some(rule.id));
    output::print(&match (args.format, exact) {
        (Format::Json, _) => json::rules(&chosen),
        (_, Some(rule)) => page(rule, &style),
        (_, None) => text::rules(&chosen, &style),
    })?;
    Ok(Outcome::Fine)
}

/// A page with its rule's name above it, unless the page begins with that itself.
fn page(rule: &RuleInfo, style: &render::Style) -> String {
    let begins_with_title = rule.page.lines().next().is_some_and(|line| line.starts_with("# "));
    let title = if begins_with_title { String::new() } else { format!("# {}: {}\n\n", rule.id, rule.title) };
    text::markdown(&format!("{title}{}", rule.page), style)
}

/// The error for an unknown rule name.
pub(crate) fn unknown_rule(name: &str) -> anyhow::Error {
    let rules = study::rules();
    let mut near = view::nearest(name, rules.iter().map(|it| it.id));
    if near.is_empty() {
        // The rules of the same family.
        let family = name.trim_end_matches(|c: char| c.is_ascii_digit()).to_ascii_uppercase();
        near = rules
            .iter()
            .map(|it| it.id)
            .filter(|it| family.len() > 1 && it.starts_with(&family))
            .take(8)
            .collect();
    }
    let hint = match &near[..] {
        [] => "`rockhound explain` lists all rules; `rockhound metrics NAME` explains metrics and counters"
            .to_owned(),
        near => format!("the nearest are {}; `rockhound explain` lists all", near.join(", ")),
    };
    usage(format!("there is no rule `{name}`"), hint)
}
