//! Containers, wrappers and shells: links of a command that start the rest of it elsewhere.

use super::{Kind, Stage, whole};

/// Words that start something in a container.
const CONTAINER_VERBS: &[&str] = &["run", "exec", "create", "shell", "start"];
/// Options of containers that take no further word.
const CONTAINER_FLAGS: &[&str] = &[
    "--rm",
    "--privileged",
    "--init",
    "--read-only",
    "--detach",
    "--tty",
    "--interactive",
    "--stdin",
    "--no-healthcheck",
    "--oom-kill-disable",
    "--rocm",
    "--nv",
    "--cleanenv",
    "--containall",
    "--contain",
    "--writable-tmpfs",
    "--writable",
    "--fakeroot",
    "--no-home",
    "--compat",
    "--replace",
    "--quiet",
];
/// Single letters of containers that take no further word.
const CONTAINER_LETTERS: &str = "itdqcC";

/// A container: the verb, options, the image or name, then the command that runs in it.
pub(super) fn container<'a>(program: &str, words: &'a [String]) -> (Stage, &'a [String]) {
    let mut stage =
        Stage { kind: Kind::Container, program: program.to_owned(), options: Vec::new(), words: Vec::new() };
    let Some(verb) = words.iter().take(4).position(|it| CONTAINER_VERBS.contains(&it.as_str())) else {
        return whole(Kind::Other, program, words);
    };
    let mut rest = &words[verb + 1..];
    let singularity = stage.is_singularity();
    while let Some((word, after)) = rest.split_first() {
        if word == "--" || !word.starts_with('-') {
            break;
        }
        rest = after;
        let short = word.strip_prefix('-').filter(|it| !it.starts_with('-'));
        let is_flag = CONTAINER_FLAGS.contains(&word.as_str())
            || short.is_some_and(|it| it.chars().all(|c| CONTAINER_LETTERS.contains(c)))
            || singularity && matches!(word.as_str(), "-e" | "-W");
        match word.split_once('=') {
            Some((name, value)) if word.starts_with("--") => {
                stage.options.push((name.to_owned(), Some(value.to_owned())));
            }
            // `-eNAME=VALUE`.
            Some(_) if word.starts_with("-e") => {
                stage.options.push(("-e".to_owned(), Some(word[2..].to_owned())));
            }
            _ if is_flag || rest.is_empty() => stage.options.push((word.clone(), None)),
            _ => {
                stage.options.push((word.clone(), Some(rest[0].clone())));
                rest = &rest[1..];
            }
        }
    }
    if let Some((image, after)) = rest.split_first().filter(|(word, _)| *word != "--") {
        stage.words.push(image.clone());
        rest = after;
    }
    if rest.first().is_some_and(|it| it == "--") {
        rest = &rest[1..];
    }
    // An entry point given as an option is the program.
    (stage, rest)
}

/// A program that starts its last words: `timeout 60 command`, `sudo -E command`.
pub(super) fn wrapper<'a>(program: &str, words: &'a [String]) -> (Stage, &'a [String]) {
    let takes = words.iter().take_while(|it| {
        it.starts_with('-') || it.starts_with("0x") || it.starts_with(|c: char| c.is_ascii_digit())
    });
    let count = takes.count();
    let stage = Stage {
        kind: Kind::Other,
        program: program.to_owned(),
        options: words[..count].iter().map(|it| (it.clone(), None)).collect(),
        words: Vec::new(),
    };
    (stage, &words[count..])
}

/// The script of `bash -c SCRIPT`: its last command, with assignments before it as `env` would set them.
pub(super) fn shell_script(stage: &Stage) -> Option<String> {
    let name = stage.program.rsplit('/').next().unwrap_or_default();
    if !["sh", "bash", "zsh", "dash"].contains(&name) {
        return None;
    }
    let of_option = stage
        .options
        .iter()
        .find(|(option, _)| option.starts_with('-') && !option.starts_with("--") && option.ends_with('c'));
    let script = of_option?.1.clone()?;
    let mut words: Vec<String> = Vec::new();
    let parts = script.replace("&&", ";").replace('\n', ";");
    let mut last = String::new();
    for part in parts.split(';').map(str::trim).filter(|it| !it.is_empty()) {
        match part.strip_prefix("export ") {
            Some(assignment) => words.push(assignment.to_owned()),
            None => last = part.to_owned(),
        }
    }
    words.push(last);
    Some(words.join(" "))
}
