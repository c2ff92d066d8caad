//! Exceptions of a project: findings that are accepted, each with its reason.

use super::Subject;
use regex::Regex;
use rules::Rule;
use serde::Deserialize;
use std::fmt;
use view::IdleException;

/// Error in a file of exceptions.
#[derive(Debug, PartialEq)]
pub struct ConfigError(String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    allow: Vec<Written>,
}

/// One exception as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    rule: String,
    kernel: Option<String>,
    #[serde(rename = "where")]
    place: Option<String>,
    reason: String,
    until: Option<toml::Value>,
}

struct Exception {
    rule: Regex,
    kernel: Option<Regex>,
    place: Option<Regex>,
    reason: String,
    until: Option<String>,
    /// As written, for messages.
    words: String,
    has_expired: bool,
    used: u64,
}

/// The exceptions of a file.
#[derive(Default)]
pub struct Exceptions {
    all: Vec<Exception>,
}

impl Exceptions {
    /// Reads a file of exceptions. `today` is a date such as `2026-11-28`.
    ///
    /// # Errors
    /// The text cannot be parsed as TOML, has an unknown key, names an unknown rule, or lacks a reason.
    pub fn parse(text: &str, today: &str) -> Result<Exceptions, ConfigError> {
        let file: File = toml::from_str(text).map_err(|error| {
            let line = error
                .span()
                .map_or(1, |span| text.get(..span.start).unwrap_or(text).matches('\n').count() + 1);
            ConfigError(format!("line {line}: {}", error.message()))
        })?;
        let all = file.allow.into_iter().map(|it| exception(it, today)).collect::<Result<_, _>>()?;
        Ok(Exceptions { all })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Reason and last day of the first exception that allows a finding.
    pub(super) fn allows(&mut self, rule: &str, subject: Subject<'_>) -> Option<(String, Option<String>)> {
        let found = self.all.iter_mut().find(|it| !it.has_expired && it.matches(rule, subject))?;
        found.used += 1;
        Some((found.reason.clone(), found.until.clone()))
    }

    /// Expired exceptions, and those that matched nothing; only of rules that `judged` is true for.
    pub(super) fn idle(&self, judged: impl Fn(&Rule) -> bool) -> (Vec<IdleException>, Vec<IdleException>) {
        let words = |it: &Exception| IdleException {
            exception: it.words.clone(),
            reason: it.reason.clone(),
            until: it.until.clone(),
        };
        let of_command =
            |it: &&Exception| rules::all().iter().any(|rule| judged(rule) && it.rule.is_match(rule.id));
        let (expired, active): (Vec<&Exception>, Vec<&Exception>) =
            self.all.iter().filter(of_command).partition(|it| it.has_expired);
        let unused = active.into_iter().filter(|it| it.used == 0);
        (expired.into_iter().map(words).collect(), unused.map(words).collect())
    }
}

impl Exception {
    fn matches(&self, rule: &str, subject: Subject<'_>) -> bool {
        let Subject { kernel, display, place, file } = subject;
        // A kernel may be named without its arguments.
        let short = display.split('(').next().unwrap_or(display).trim_start_matches("void ");
        let name = file.rsplit('/').next().unwrap_or(file);
        let any = |pattern: &Option<Regex>, names: &[&str]| {
            pattern.as_ref().is_none_or(|it| names.iter().any(|name| it.is_match(name)))
        };
        self.rule.is_match(rule)
            && any(&self.kernel, &[kernel, display, short])
            && any(&self.place, &[place, file, name])
    }
}

fn exception(written: Written, today: &str) -> Result<Exception, ConfigError> {
    let Written { rule, kernel, place, reason, until } = written;
    let mut words = rule.clone();
    for (word, pattern) in [(" in ", &kernel), (" at ", &place)] {
        if let Some(pattern) = pattern {
            words += &format!("{word}{pattern}");
        }
    }
    let error = |what: &str| ConfigError(format!("exception for {words}: {what}"));
    let id = glob(&rule.to_ascii_uppercase()).ok_or_else(|| error("the rule is too long"))?;
    if !rules::all().iter().any(|it| id.is_match(it.id)) {
        return Err(error("there is no such rule; `rockhound explain` lists them"));
    }
    if kernel.is_none() && place.is_none() {
        return Err(error("it needs `kernel` or `where`; `*` is all"));
    }
    if reason.trim().is_empty() {
        return Err(error("it needs a reason"));
    }
    let until = match until {
        None => None,
        Some(value) => {
            let date = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Some(
                Some(date)
                    .filter(|it| is_date(it))
                    .ok_or_else(|| error("`until` is no date; write it as `2027-01-31`"))?,
            )
        }
    };
    let pattern = |it: Option<String>| match it {
        None => Ok(None),
        Some(text) => glob(&text).map(Some).ok_or_else(|| error("a pattern is too long")),
    };
    Ok(Exception {
        rule: id,
        kernel: pattern(kernel)?,
        place: pattern(place)?,
        reason: reason.trim().to_owned(),
        has_expired: until.as_deref().is_some_and(|last| last < today),
        until,
        words,
        used: 0,
    })
}

/// A pattern in which `*` is any text and `?` one letter.
fn glob(text: &str) -> Option<Regex> {
    let mut pattern = String::from("(?s)^");
    for letter in text.chars() {
        match letter {
            '*' => pattern.push_str(".*"),
            '?' => pattern.push('.'),
            other => pattern.push_str(&regex::escape(&other.to_string())),
        }
    }
    pattern.push('$');
    Regex::new(&pattern).ok()
}

/// `2027-01-31`.
fn is_date(text: &str) -> bool {
    let part = |range: std::ops::Range<usize>| text.get(range).and_then(|it| it.parse::<u32>().ok());
    text.len() == 10
        && text.get(4..5) == Some("-")
        && text.get(7..8) == Some("-")
        && part(0..4).is_some()
        && part(5..7).is_some_and(|month| (1..=12).contains(&month))
        && part(8..10).is_some_and(|day| (1..=31).contains(&day))
}
