//! The flat list of rules.
//!
//! A rule exists if and only if it is in this list; command line, documentation and tests all read it.

use crate::{Rule, rules};

/// Ascending by id.
static RULES: &[Rule] = &[
    rules::alu001::RULE,
    rules::alu002::RULE,
    rules::chk001::RULE,
    rules::chk002::RULE,
    rules::chk003::RULE,
    rules::chk004::RULE,
    rules::chk005::RULE,
    rules::com001::RULE,
    rules::com002::RULE,
    rules::com003::RULE,
    rules::com004::RULE,
    rules::com005::RULE,
    rules::com006::RULE,
    rules::com007::RULE,
    rules::ctr001::RULE,
    rules::ctr002::RULE,
    rules::ctr003::RULE,
    rules::ctr004::RULE,
    rules::ctr005::RULE,
    rules::ctr006::RULE,
    rules::env001::RULE,
    rules::env002::RULE,
    rules::env003::RULE,
    rules::env004::RULE,
    rules::env005::RULE,
    rules::env006::RULE,
    rules::env007::RULE,
    rules::env008::RULE,
    rules::env009::RULE,
    rules::env010::RULE,
    rules::lch001::RULE,
    rules::lch002::RULE,
    rules::lch003::RULE,
    rules::lch004::RULE,
    rules::lch005::RULE,
    rules::lch006::RULE,
    rules::lds001::RULE,
    rules::lds002::RULE,
    rules::lds003::RULE,
    rules::lds004::RULE,
    rules::lds005::RULE,
    rules::lds006::RULE,
    rules::mat001::RULE,
    rules::mat002::RULE,
    rules::mat003::RULE,
    rules::mat004::RULE,
    rules::mat005::RULE,
    rules::mat006::RULE,
    rules::mem001::RULE,
    rules::mem002::RULE,
    rules::mem003::RULE,
    rules::mem004::RULE,
    rules::mem005::RULE,
    rules::mem006::RULE,
    rules::mem007::RULE,
    rules::mem008::RULE,
    rules::mem009::RULE,
    rules::mem010::RULE,
    rules::mem011::RULE,
    rules::mem012::RULE,
    rules::res001::RULE,
    rules::res002::RULE,
    rules::res003::RULE,
    rules::res004::RULE,
    rules::res005::RULE,
    rules::res006::RULE,
    rules::res007::RULE,
    rules::res008::RULE,
    rules::res009::RULE,
    rules::syn001::RULE,
    rules::syn002::RULE,
    rules::syn003::RULE,
    rules::syn004::RULE,
    rules::syn005::RULE,
    rules::sys001::RULE,
    rules::sys002::RULE,
    rules::sys003::RULE,
    rules::sys004::RULE,
    rules::sys005::RULE,
    rules::sys006::RULE,
    rules::sys007::RULE,
    rules::sys008::RULE,
    rules::sys009::RULE,
    rules::sys010::RULE,
    rules::sys011::RULE,
    rules::sys012::RULE,
    rules::sys013::RULE,
    rules::sys014::RULE,
    rules::sys015::RULE,
    rules::sys016::RULE,
    rules::sys017::RULE,
    rules::til001::RULE,
    rules::til002::RULE,
    rules::til003::RULE,
    rules::til004::RULE,
    rules::til005::RULE,
    rules::til006::RULE,
    rules::til007::RULE,
    rules::til008::RULE,
    rules::til009::RULE,
    rules::trc001::RULE,
    rules::trc002::RULE,
    rules::trc003::RULE,
    rules::trc004::RULE,
    rules::trc005::RULE,
    rules::trc006::RULE,
    rules::trc007::RULE,
    rules::trc008::RULE,
    rules::tun001::RULE,
    rules::tun002::RULE,
    rules::tun003::RULE,
    rules::tun004::RULE,
    rules::tun005::RULE,
    rules::tun006::RULE,
    rules::tun007::RULE,
    rules::tun008::RULE,
    rules::tun009::RULE,
    rules::tun010::RULE,
    rules::tun011::RULE,
    rules::tun012::RULE,
    rules::tun013::RULE,
    rules::tun014::RULE,
    rules::tun015::RULE,
    rules::tun016::RULE,
    rules::tun017::RULE,
    rules::tun018::RULE,
    rules::tun019::RULE,
    rules::tun020::RULE,
    rules::tun021::RULE,
];

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
