//! The flat list of rules.
//!
//! A rule exists if and only if it has a file in `rules/`; command line, documentation and tests all read the list.

use crate::Rule;
use crate::rules::RULES;

/// Every rule, ascending by id.
pub fn all() -> &'static [Rule] {
    RULES
}

/// The rule with this id, in any case of letters.
pub fn by_id(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id.eq_ignore_ascii_case(id))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SECTIONS, sections};

    #[test]
    fn ids_are_unique_ascending_and_named_by_convention() {
        for rule in all() {
            let (letters, digits) = rule.id.split_at(3);
            assert!(
                letters.bytes().all(|b| b.is_ascii_uppercase())
                    && digits.len() == 3
                    && digits.bytes().all(|b| b.is_ascii_digit()),
                "{}: three capitals and three digits",
                rule.id
            );
            assert!(std::ptr::eq(by_id(&rule.id.to_lowercase()).unwrap(), rule));
        }
        assert!(all().windows(2).all(|pair| pair[0].id < pair[1].id));
        assert!(by_id("RES").is_none());
    }

    #[test]
    fn titles_are_phrases() {
        for rule in all() {
            let first = rule.title.chars().next().expect(rule.id);
            assert!(!rule.title.ends_with('.'), "{}: {}", rule.id, rule.title);
            let word = rule.title.split(' ').next().unwrap_or_default();
            let acronym = word.len() > 1 && word.chars().nth(1).is_some_and(|c| !c.is_lowercase());
            assert!(first.is_lowercase() || first.is_ascii_digit() || acronym, "{}: {}", rule.id, rule.title);
            assert!(rule.title.len() <= 72, "{}: {}", rule.id, rule.title);
        }
    }

    #[test]
    fn pages_have_the_fixed_sections() {
        for rule in all() {
            let found = sections(rule.page);
            let headings: Vec<&str> = found.iter().map(|(heading, _)| *heading).collect();
            assert_eq!(headings, SECTIONS, "{}", rule.id);
            for (heading, body) in found {
                assert!(body.len() >= 30, "{}: `{heading}` says nothing", rule.id);
            }
            for line in rule.page.lines() {
                assert!(line.trim_end() == line, "{}: trailing space: {line:?}", rule.id);
            }
        }
    }
}
