//! Files that start jobs: compose files, manifests of Kubernetes, batch and shell scripts, Dockerfiles.
//!
//! A file is read as what its jobs get: variables, the command, and of containers the devices, memory and rights.

mod compose;
mod dockerfile;
mod kubernetes;
mod script;
mod yaml;

use crate::command::Command;
use crate::{DockerContainer, Document, Environment, Error};
use serde_json::Value;

/// One job of a file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Job {
    /// File, and the name of the service or container in it.
    pub name: String,
    /// Kind of the file: `service of a compose file`.
    pub kind: &'static str,
    /// Variables it sets, in order.
    pub environment: Vec<(String, String)>,
    /// Its command.
    pub command: Option<Command>,
    /// Its container.
    pub container: Option<DockerContainer>,
    /// Settings that were not read, and why.
    pub notes: Vec<String>,
}

impl Job {
    /// The job as inputs of checks.
    pub fn documents(&self) -> Vec<Document> {
        let mut environment = Environment::default();
        for (name, value) in &self.environment {
            environment.set(name, value);
        }
        let mut documents =
            vec![Document::of_environment(format!("{}, environment", self.name), environment)];
        if let Some(container) = &self.container {
            documents.push(Document::of_container(&self.name, self.kind, container.clone()));
        }
        documents
    }
}

/// The jobs of a file; `None` if it is none that starts jobs.
///
/// # Errors
/// It is one by its first keys, and cannot be read or starts nothing.
pub fn jobs(name: &str, text: &str) -> Option<Result<Vec<Job>, Error>> {
    let starts = |key: &str| text.lines().any(|line| line.starts_with(key));
    let read = match () {
        () if script::is(text) => Ok(script::read(name, text)),
        () if dockerfile::is(text) => Ok(dockerfile::read(name, text)),
        () if starts("apiVersion:") && starts("kind:") => {
            yaml::documents(text).map(|it| kubernetes::read(name, &it))
        }
        () if starts("services:") => yaml::documents(text).map(|it| compose::read(name, &it)),
        () => return None,
    };
    Some(match read {
        Ok(jobs) if jobs.is_empty() => {
            Err(Error::whole("starts nothing: no service, container, command or variable is in it"))
        }
        Ok(jobs) => Ok(jobs),
        Err(error) => Err(Error::whole(error)),
    })
}

/// Lines with those that a backslash continues.
fn joined<'t>(lines: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    for line in lines {
        let (part, more) = match line.trim_end().strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match out.last_mut().filter(|_| open) {
            Some(last) => {
                last.push(' ');
                last.push_str(part.trim());
            }
            None => out.push(part.to_owned()),
        }
        open = more;
    }
    out
}

/// A list of texts, or one text as a list.
fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        Some(Value::String(text)) => vec![text.clone()],
        _ => Vec::new(),
    }
}

fn text(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|it| !it.is_empty() && *it != "~" && *it != "null")
}

fn is_true(value: Option<&Value>) -> bool {
    text(value).is_some_and(|it| ["true", "yes", "on"].iter().any(|word| it.eq_ignore_ascii_case(word)))
}

/// `64gb`, `16Gi`, `1073741824`: bytes.
fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" | "ki" | "kib" => 1024.0,
        "m" | "mb" | "mi" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gi" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tb" | "ti" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some((number * unit) as u64)
}

/// `NAME=VALUE`, with the value of `${NAME:-default}` where a default is all there is.
fn assignment(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    let name = name.trim();
    let sound = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    sound.then(|| (name.to_owned(), defaulted(value)))
}

/// The default of `${NAME:-default}`.
fn defaulted(value: &str) -> String {
    let inner = value.trim().strip_prefix("${").and_then(|it| it.strip_suffix('}'));
    inner
        .and_then(|it| it.split_once(":-"))
        .map_or_else(|| value.to_owned(), |(_, default)| default.to_owned())
}

#[cfg(test)]
mod tests;
