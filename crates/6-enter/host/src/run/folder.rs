//! The folder that a recording is written to, with placeholders in its name for where and how it is made.

use crate::hardware::launcher::rank;
use crate::{machine, usage};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// Placeholders with their meanings.
const WORDS: &str =
    "`%hostname%`, `%gpu%`, `%name%`, `%pid%`, `%rank%`, `%env{NAME}%`; `%%` is a percent sign";

/// The folder of a recording: the requested one, or one named after program and GPU.
pub(super) fn recording_folder(asked: Option<&Path>, name: &str, gpu: &str) -> Result<PathBuf> {
    let Some(asked) = asked else { return Ok(Path::new("workloads").join(name).join(gpu)) };
    // A path that is not UTF-8 has no placeholders.
    let Some(text) = asked.to_str() else { return Ok(asked.to_owned()) };
    let stands_for = |word: &str| match word {
        "hostname" => Ok(machine::host_name()),
        "gpu" | "gpumodel" | "gpu_model" => Ok(gpu.to_owned()),
        "name" => Ok(name.to_owned()),
        "pid" => Ok(std::process::id().to_string()),
        "rank" => match rank(&|name| std::env::var(name).ok()) {
            Some((number, _)) => Ok(number.to_string()),
            None => {
                Err(usage("no launcher gave this process a rank", "`%rank%` in `-o` needs mpirun or srun"))
            }
        },
        _ => match word.strip_prefix("env{").and_then(|rest| rest.strip_suffix('}')) {
            Some(variable) => std::env::var(variable)
                .with_context(|| format!("`%{word}%` in `-o`: the variable is not set")),
            None => Err(usage(format!("`%{word}%` in `-o` has no meaning"), format!("words are {WORDS}"))),
        },
    };
    expanded(text, &stands_for).map(PathBuf::from)
}

/// A text with its words replaced. A single percent sign is one.
fn expanded(text: &str, stands_for: &dyn Fn(&str) -> Result<String>) -> Result<String> {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        out.push_str(before);
        match after.split_once('%') {
            Some(("", after)) => {
                out.push('%');
                rest = after;
            }
            Some((word, after)) if is_word(word) => {
                // A placeholder is one part of the path, whatever its value.
                out.push_str(&stands_for(word)?.replace(['/', '\\'], "_"));
                rest = after;
            }
            _ => {
                out.push('%');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    Ok(out)
}

/// True if the text between two percent signs is a placeholder, not part of a name with percent signs.
fn is_word(text: &str) -> bool {
    let inner = text.strip_prefix("env{").and_then(|it| it.strip_suffix('}')).unwrap_or(text);
    !inner.is_empty() && inner.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_and_others_refused() {
        let stands_for = |word: &str| match word {
            "hostname" => Ok("node/7".to_owned()),
            "env{JOB}" => Ok("42".to_owned()),
            _ => Err(usage(format!("`%{word}%` has no meaning"), "")),
        };
        for (text, expected) in [
            ("out", Ok("out")),
            ("out/%hostname%/%env{JOB}%", Ok("out/node_7/42")),
            ("%hostname%-%hostname%", Ok("node_7-node_7")),
            ("100%", Ok("100%")),
            ("50%-of-90%%", Ok("50%-of-90%")),
            ("a%%b", Ok("a%b")),
            ("out/%nonsense%", Err("`%nonsense%` has no meaning")),
        ] {
            let found = expanded(text, &stands_for).map_err(|e| e.to_string());
            match (found, expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{text}"),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{text}: {found}"),
                (found, expected) => panic!("{text}: {found:?}, not {expected:?}"),
            }
        }
    }
}
