//! Functions of the Python package: one for each command, with its options as keywords.

use clap::{Arg, ArgAction, Command};
use std::fmt::Write as _;

/// Commands without an answer that a program can use, and those that the package answers by itself.
const LEFT_OUT: [&str; 8] = ["inspect", "analyze", "tui", "view", "mcp", "completions", "man", "help"];
/// Options that decide where an answer goes and how it looks.
const OF_OUTPUT: [&str; 8] =
    ["format", "output", "color", "width", "full-names", "help", "version", "within"];
/// Help of an output that holds nothing but the answer, which a function returns.
const OF_COPIES: &str = "Write to a file instead of standard output";
/// Names that Python does not allow for arguments.
const RESERVED: [&str; 6] = ["for", "from", "import", "in", "with", "lambda"];

/// The module's text.
pub(super) fn module(program: &Command) -> String {
    let mut functions = Vec::new();
    for command in program.get_subcommands().filter(|it| !LEFT_OUT.contains(&it.get_name())) {
        add(command, &[], &mut functions);
    }
    functions.sort_by(|a, b| a.0.cmp(&b.0));
    let mut text = String::from(
        "\"\"\"A function for each command. Written by `rockhound completions --python`.\"\"\"\n\nfrom __future__ import annotations\n\nfrom typing import Optional, Sequence, Union\n\nfrom ._documents import Document\nfrom ._run import Progress, Ran, Text, Texts, document, ran\n\n__all__ = [\n",
    );
    for (name, _) in &functions {
        let _ = writeln!(text, "    \"{name}\",");
    }
    text.push_str("]\n");
    functions.iter().for_each(|(_, function)| text.push_str(function));
    text
}

fn add(command: &Command, above: &[&str], functions: &mut Vec<(String, String)>) {
    let words = [above, &[command.get_name()]].concat();
    let inner: Vec<&Command> = command.get_subcommands().filter(|it| it.get_name() != "help").collect();
    if inner.is_empty() {
        let name = words.join("_").replace('-', "_");
        functions.push((name.clone(), function(command, &name, &words)));
    }
    inner.into_iter().for_each(|it| add(it, &words, functions));
}

fn function(command: &Command, name: &str, words: &[&str]) -> String {
    let is_document = command.get_arguments().any(|it| {
        it.get_id() == "format" && it.get_possible_values().iter().any(|it| it.get_name() == "json")
    });
    let shown = |it: &&Arg| match it.get_long() {
        Some("output") => !is_document || help(it) != OF_COPIES,
        Some(long) => !OF_OUTPUT.contains(&long) && !it.is_hide_set(),
        None => true,
    };
    let arguments: Vec<&Arg> = command.get_arguments().filter(shown).collect();
    let (placed, options): (Vec<&Arg>, Vec<&Arg>) =
        arguments.into_iter().partition(|it| it.is_positional() && !it.is_last_set());
    let mut signature: Vec<String> = placed.iter().map(|it| placed_argument(it)).collect();
    if !placed.last().is_some_and(|it| is_many(it)) {
        signature.push("*".to_owned());
    }
    signature.extend(options.iter().map(|it| option_argument(it)));
    signature.push("progress: Optional[Progress] = None".to_owned());
    let (result, call) = if is_document { ("Document", "document") } else { ("Ran", "ran") };
    let mut text = format!("\n\ndef {name}(\n    {},\n) -> {result}:\n", signature.join(",\n    "));
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "    \"\"\"{}.\n\n    Args:\n", escaped(about.trim_end_matches('.')));
    for argument in placed.iter().chain(&options) {
        let values: Vec<_> =
            argument.get_possible_values().iter().map(|it| it.get_name().to_owned()).collect();
        let values = if values.is_empty() || is_flag(argument) {
            String::new()
        } else {
            format!(" ({})", values.join(", "))
        };
        let help = escaped(&help(argument));
        let _ = writeln!(text, "        {}: {help}{values}.", python_name(argument));
    }
    text.push_str("        progress: called with each line that the command says meanwhile.\n    \"\"\"\n");
    let mut positionals = Vec::new();
    for argument in &placed {
        let star = if is_many(argument) { "*" } else { "" };
        positionals.push(format!("{star}{}", python_name(argument)));
    }
    let words: Vec<String> = words.iter().map(|it| format!("\"{it}\"")).collect();
    let _ = write!(
        text,
        "    return {call}(\n        [{}],\n        [{}],\n        {{\n",
        words.join(", "),
        positionals.join(", ")
    );
    for option in options.iter().filter(|it| !it.is_positional()) {
        let _ = writeln!(
            text,
            "            \"{}\": {},",
            option.get_long().unwrap_or_default(),
            python_name(option)
        );
    }
    // What is written instead of a document.
    let instead: Vec<String> = options
        .iter()
        .filter(|it| command.get_arg_conflicts_with(it).iter().any(|it| it.get_id() == "format"))
        .map(|it| python_name(it))
        .collect();
    if is_document && !instead.is_empty() {
        let _ = writeln!(text, "            \"format\": None if {} else \"json\",", instead.join(" or "));
    }
    let program = options.iter().find(|it| it.is_positional()).map_or("()".to_owned(), |it| python_name(it));
    let _ = write!(text, "        }},\n        {program},\n        progress,\n    )\n");
    text
}

fn placed_argument(argument: &Arg) -> String {
    let name = python_name(argument);
    match (is_many(argument), argument.is_required_set()) {
        (true, _) => format!("*{name}: Text"),
        (false, true) => format!("{name}: Text"),
        (false, false) => format!("{name}: Optional[Text] = None"),
    }
}

fn option_argument(argument: &Arg) -> String {
    let name = python_name(argument);
    let may_be_bare = argument.get_num_args().is_some_and(|it| it.min_values() == 0);
    if argument.is_positional() {
        format!("{name}: Sequence[Text] = ()")
    } else if is_flag(argument) {
        format!("{name}: bool = False")
    } else if argument.is_required_set() {
        format!("{name}: {}", if is_many(argument) { "Texts" } else { "Text" })
    } else if may_be_bare {
        format!("{name}: Union[bool, Text] = False")
    } else if is_many(argument) {
        format!("{name}: Texts = ()")
    } else {
        format!("{name}: Optional[Text] = None")
    }
}

fn is_flag(argument: &Arg) -> bool {
    !argument.is_positional() && !argument.get_action().takes_values()
}

fn is_many(argument: &Arg) -> bool {
    matches!(argument.get_action(), ArgAction::Append)
        || argument.get_num_args().is_some_and(|it| it.max_values() > 1)
}

fn python_name(argument: &Arg) -> String {
    let name = argument.get_long().unwrap_or(argument.get_id().as_str()).replace('-', "_");
    if RESERVED.contains(&name.as_str()) { format!("{name}_") } else { name }
}

/// The first line of an argument's help, without a full stop.
fn help(argument: &Arg) -> String {
    let help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    help.lines().next().unwrap_or_default().trim_end_matches('.').to_owned()
}

/// Text inside a documentation string.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "'")
}
