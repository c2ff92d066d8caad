//! Addresses of databases.

use crate::error::StoreError;
use std::path::PathBuf;

/// Where a database is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Address {
    /// A file.
    Sqlite(PathBuf),
    /// A server, as libpq names it.
    Postgres(String),
}

impl Address {
    /// Reads `PATH`, `sqlite:PATH`, `sqlite://PATH`, `postgres://…` or `postgresql://…`.
    ///
    /// # Errors
    /// If it is empty or names another kind of database.
    pub fn parse(text: &str) -> Result<Address, StoreError> {
        let bad = |why: &str| StoreError::Address { address: shown(text), why: why.to_owned() };
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            return Ok(Address::Postgres(text.to_owned()));
        }
        let path = match text.strip_prefix("sqlite:") {
            Some(rest) => rest.strip_prefix("//").unwrap_or(rest),
            None => text,
        };
        match path.split_once("://") {
            _ if path.is_empty() => Err(bad("it is empty")),
            Some((engine, _)) => Err(bad(&format!("there is no engine `{engine}`"))),
            None => Ok(Address::Sqlite(path.into())),
        }
    }

    /// The address without its password.
    pub fn shown(&self) -> String {
        match self {
            Address::Sqlite(path) => path.display().to_string(),
            Address::Postgres(url) => shown(url),
        }
    }
}

/// A text without the password between `:` and the last `@` of its authority, and without a parameter `password`.
fn shown(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (before, parameters) = rest.split_once('?').map_or((rest, None), |(a, b)| (a, Some(b)));
    let slash = before.find('/').unwrap_or(before.len());
    // A password may contain a slash without percent-encoding.
    let at = before.rfind('@').map_or(slash, |at| at.max(slash.min(at)));
    let (authority, after) = if before.contains('@') { before.split_at(at) } else { ("", before) };
    let user = authority.split_once(':').map_or(authority.to_owned(), |(user, _)| format!("{user}:***"));
    let parameters: Vec<String> = parameters.into_iter().flat_map(|it| it.split('&')).map(hidden).collect();
    let mark = if parameters.is_empty() { "" } else { "?" };
    format!("{scheme}://{user}{after}{mark}{}", parameters.join("&"))
}

fn hidden(parameter: &str) -> String {
    match parameter.split_once('=') {
        Some((name, _)) if name.eq_ignore_ascii_case("password") => format!("{name}=***"),
        _ => parameter.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_name_an_engine() {
        for (text, expected) in [
            ("tune.db", Some(Address::Sqlite("tune.db".into()))),
            ("sqlite:a/b.db", Some(Address::Sqlite("a/b.db".into()))),
            ("sqlite:///tmp/b.db", Some(Address::Sqlite("/tmp/b.db".into()))),
            ("postgres://u@h/d", Some(Address::Postgres("postgres://u@h/d".into()))),
            ("postgresql:///d", Some(Address::Postgres("postgresql:///d".into()))),
            ("mysql://u@h/d", None),
            ("", None),
            ("sqlite:", None),
        ] {
            assert_eq!(Address::parse(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn passwords_are_not_shown() {
        for (url, expected) in [
            ("postgres://u:secret@h:5432/d", "postgres://u:***@h:5432/d"),
            ("postgres://u:se@cr/et@h/d", "postgres://u:***@h/d"),
            ("postgres://u@h/d", "postgres://u@h/d"),
            ("postgres:///d?host=/run&password=secret", "postgres:///d?host=/run&password=***"),
        ] {
            assert_eq!(Address::Postgres(url.into()).shown(), expected);
        }
        let error = Address::parse("mysql://u:secret@h/d").unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
}
