//! Environments: the output of `env`, `export -p`, an env-file, or `/proc/PID/environ`.
//!
//! A value may hold `=` and line ends; only the form with NUL bytes keeps both apart for sure.

use std::collections::BTreeMap;

/// Variables by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Reads either form.
    pub fn read(bytes: &[u8]) -> Environment {
        let text = String::from_utf8_lossy(bytes);
        let mut environment = Environment::default();
        if bytes.contains(&0) {
            for entry in text.split('\0') {
                if let Some((name, value)) = entry.split_once('=') {
                    environment.set(name, value);
                }
            }
            return environment;
        }
        let mut last: Option<String> = None;
        for line in text.lines() {
            match assignment(line) {
                Some((name, value)) => {
                    environment.set(name, value);
                    last = Some(name.to_owned());
                }
                // A line without an assignment continues the value before it.
                None if !line.trim().is_empty() && !line.trim_start().starts_with('#') => {
                    if let Some(value) = last.as_ref().and_then(|name| environment.variables.get_mut(name)) {
                        value.push('\n');
                        value.push_str(line);
                    }
                }
                None => {}
            }
        }
        environment
    }

    /// Whether bytes are an environment: each line or entry assigns a name.
    pub fn is(bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        let mut entries: Box<dyn Iterator<Item = &str>> =
            if bytes.contains(&0) { Box::new(text.split('\0')) } else { Box::new(text.lines()) };
        let mut any = false;
        let all = entries.all(|entry| {
            let entry = entry.trim();
            if entry.is_empty() || entry.starts_with('#') {
                return true;
            }
            any = true;
            assignment(entry).is_some()
        });
        all && any
    }

    /// Sets a variable.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.insert(name.to_owned(), value.to_owned());
    }

    /// Sets every variable of another.
    pub fn add(&mut self, other: &Environment) {
        self.variables.extend(other.variables.iter().map(|(name, value)| (name.clone(), value.clone())));
    }

    /// A value. A variable that is set to nothing has the value "".
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// A value that says something: set, and not to nothing.
    pub fn said(&self, name: &str) -> Option<&str> {
        self.get(name).map(str::trim).filter(|value| !value.is_empty())
    }

    /// True if a switch is on: `1`, `true`, `yes`, `on`, or a number that is not 0.
    pub fn is_on(&self, name: &str) -> bool {
        self.said(name).is_some_and(is_on)
    }

    /// All variables by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// True if no variable is set.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }
}

/// Whether a value means on.
pub fn is_on(value: &str) -> bool {
    let value = value.trim();
    let word = ["true", "yes", "on", "y"].iter().any(|it| it.eq_ignore_ascii_case(value));
    word || value.parse::<i64>().is_ok_and(|it| it != 0)
}

/// Name and value of a line such as `A=1`, `export A="1"`, `declare -x A='1'`.
fn assignment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_end_matches('\r');
    let rest =
        ["export ", "declare -x ", "set -gx "].iter().find_map(|it| line.trim_start().strip_prefix(it));
    let (name, value) = rest.unwrap_or(line).split_once('=')?;
    let is_name = !name.is_empty()
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let quoted = |quote: char| value.strip_prefix(quote).and_then(|it| it.strip_suffix(quote));
    is_name.then(|| (name, quoted('"').or_else(|| quoted('\'')).unwrap_or(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form() {
        for (bytes, expected) in [
            (&b"A=1\nB=a=b\nC=\n"[..], vec![("A", "1"), ("B", "a=b"), ("C", "")]),
            (b"export A=\"1\"\ndeclare -x B='x y'\n# note\n", vec![("A", "1"), ("B", "x y")]),
            (b"A=one\ntwo\nB=2\n", vec![("A", "one\ntwo"), ("B", "2")]),
            (b"A=x\0B=one\ntwo\0C=\0", vec![("A", "x"), ("B", "one\ntwo"), ("C", "")]),
        ] {
            let environment = Environment::read(bytes);
            assert_eq!(environment.iter().collect::<Vec<_>>(), expected);
        }
        assert!(!Environment::is(b"hello world\n") && !Environment::is(b"") && !Environment::is(b"a b=c\n"));
    }
}
