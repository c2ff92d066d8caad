//! The next steps of an answer as calls of tools, where a tool does what the command does.

use super::tools::{ALL, Answers, Argument, Definition, Form};
use rmcp::model::JsonObject;
use serde_json::{Value, json};
use std::path::Path;

/// Options of commands that say how to show what the answer of a tool shows anyway.
const OF_LOOKS: [&str; 1] = ["--lines"];

/// The option of `profile` that names a folder in `workloads`.
const OF_NAMES: &str = "-n";

/// Gives each step of a guide the tool and the arguments that do it, in place of its command. A step without such a tool
/// keeps its command, for the user.
pub(super) fn with_tools(document: &mut Value, may_run: bool) {
    let kernel = document.pointer("/verdict/kernel").or_else(|| document.pointer("/kernels/0/name"));
    let kernel = kernel.and_then(Value::as_str).unwrap_or_default().to_owned();
    for step in document.get_mut("steps").and_then(Value::as_array_mut).into_iter().flatten() {
        let words = step["command"].as_str().and_then(view::shell_words).unwrap_or_default();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (call, others) = match &words[..] {
            ["rockhound", "analyze", options @ ..] => tables(options),
            ["rockhound", "inspect", options @ ..] if options.contains(&"--workload") => {
                (Some(("open", of_id(format!("listing:{kernel}")))), Vec::new())
            }
            ["rockhound", command, rest @ ..] => (call(command, rest, may_run), Vec::new()),
            _ => (None, Vec::new()),
        };
        let Some((tool, arguments)) = call else { continue };
        *step = json!({ "kind": step["kind"], "why": step["why"], "tool": tool, "arguments": arguments });
        if !others.is_empty() {
            step["other_ids"] = others.into();
        }
    }
}

/// A tool and its arguments.
type Call = (&'static str, JsonObject);

/// The first of the panels and tables that `analyze` shows of the recording that the answer is about, and the ids of the
/// others.
fn tables(options: &[&str]) -> (Option<Call>, Vec<String>) {
    let none = (None, Vec::new());
    let [_, _, options @ ..] = options else { return none };
    let Some(at) = options.iter().position(|it| *it == "-b") else { return none };
    let mut ids = options[at + 1..].iter().map(|block| format!("table:{block}"));
    let Some(first) = ids.next() else { return none };
    let mut arguments = of_id(first);
    match options[..at] {
        [] => {}
        ["-k", kernel] => {
            arguments.insert("kernel".to_owned(), kernel.into());
        }
        // Selections that `open` has no argument for.
        _ => return none,
    }
    (Some(("open", arguments)), ids.collect())
}

fn of_id(id: String) -> JsonObject {
    JsonObject::from_iter([("id".to_owned(), id.into())])
}

/// The tool that a command answers, with the arguments that say the same; `None` if none can say it, or if it would be refused.
fn call(command: &str, words: &[&str], may_run: bool) -> Option<Call> {
    let is_of = |it: &&Definition| it.command == [command] && it.answers != Answers::Text;
    let tool = ALL.iter().find(is_of)?;
    let end = words.iter().position(|it| *it == "--").unwrap_or(words.len());
    let mut arguments = JsonObject::new();
    let mut positionals = tool.arguments.iter().filter(|it| it.option.is_empty() && it.form != Form::Program);
    let mut rest = words[..end].iter().filter(|it| !OF_LOOKS.contains(it));
    let mut runs = tool.runs;
    while let Some(&word) = rest.next() {
        if word == OF_NAMES && tool.answers == Answers::Recording {
            arguments.insert("output".to_owned(), format!("workloads/{}", rest.next()?).into());
            continue;
        }
        let (argument, value) = match tool.arguments.iter().find(|it| it.option == word && !word.is_empty()) {
            Some(flag) if flag.form == Form::Flag => (flag, word),
            Some(option) => (option, *rest.next()?),
            None if word.starts_with('-') => return None,
            None => {
                runs |= command == "judge" && host::judge::is_program(Path::new(word));
                (positionals.next()?, word)
            }
        };
        add(&mut arguments, argument, value)?;
    }
    let program = words.get(end + 1..).unwrap_or_default();
    if !program.is_empty() {
        // A second name behind an option would be taken for a launch file.
        if tool.answers == Answers::Recording && arguments.contains_key("launch") {
            return None;
        }
        runs = true;
        let argument = tool.arguments.iter().find(|it| it.form == Form::Program)?;
        arguments.insert(argument.name.to_owned(), program.into());
    }
    let is_whole = tool.arguments.iter().all(|it| !it.is_required || arguments.contains_key(it.name));
    (is_whole && (may_run || !runs)).then_some((tool.name, arguments))
}

/// Adds a value; `None` if the argument has one and takes one only.
fn add(arguments: &mut JsonObject, argument: &Argument, value: &str) -> Option<()> {
    let value: Value = match argument.form {
        Form::Flag => true.into(),
        Form::Count => value.parse::<u64>().ok()?.into(),
        _ => value.into(),
    };
    if matches!(argument.form, Form::Paths | Form::Texts) {
        let all = arguments.entry(argument.name).or_insert_with(|| json!([]));
        all.as_array_mut()?.push(value);
        return Some(());
    }
    arguments.insert(argument.name.to_owned(), value).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_name_tools_where_tools_do_them() {
        let cases = [
            (
                "rockhound analyze -p /w/heat -k 0 -b 2 17",
                true,
                json!(["open", { "id": "table:2", "kernel": "0" }, ["table:17"]]),
            ),
            ("rockhound analyze -p '/w/my heat' -b 0.7", true, json!(["open", { "id": "table:0.7" }])),
            (
                "rockhound inspect --asm --workload /w/heat -k copy",
                true,
                json!(["open", { "id": "listing:void copy<float>(float*)" }]),
            ),
            ("rockhound inspect /cache/copy --lines", true, json!(["inspect", { "files": ["/cache/copy"] }])),
            (
                "rockhound guide /w/b --base '/w/a b' -k 'x.*'",
                false,
                json!(["guide", { "recording": "/w/b", "base": "/w/a b", "kernel": "x.*" }]),
            ),
            (
                "rockhound guide /w/b --base /w/a --match old=new --match o2=n2",
                false,
                json!(["guide", { "recording": "/w/b", "base": "/w/a", "match": ["old=new", "o2=n2"] }]),
            ),
            (
                "rockhound profile --breakdown --gpu mi300a LAUNCH.toml --shape N=4 -o /w/b",
                false,
                json!(["profile", { "breakdown": true, "gpu": "mi300a", "launch": "LAUNCH.toml", "shape": "N=4", "output": "/w/b" }]),
            ),
            (
                "rockhound profile --gpu mi300x -k copy -o /w/b -- ./app 'a b' -- -k c",
                true,
                json!(["profile", { "gpu": "mi300x", "kernel": "copy", "output": "/w/b", "program": ["./app", "a b", "--", "-k", "c"] }]),
            ),
            (
                "rockhound profile --gpu mi210 -n heat-emulated -- ./heat 256",
                true,
                json!(["profile", { "gpu": "mi210", "output": "workloads/heat-emulated", "program": ["./heat", "256"] }]),
            ),
            (
                "rockhound judge LAUNCH.toml CHANGED.toml",
                false,
                json!(["judge", { "base": "LAUNCH.toml", "candidates": ["CHANGED.toml"] }]),
            ),
            (
                "rockhound judge a.py CHANGED.py -- 7",
                true,
                json!(["judge", { "base": "a.py", "candidates": ["CHANGED.py"], "arguments": ["7"] }]),
            ),
            // Programs that the user has not allowed, what only a GPU does, what no tool does.
            ("rockhound profile -o /w/b -- ./app", false, Value::Null),
            ("rockhound judge a.py CHANGED.py", false, Value::Null),
            ("rockhound profile --on gpu -n more -- ./app", true, Value::Null),
            ("rockhound profile -k a b -- ./app", true, Value::Null),
            ("rockhound analyze -p /w/heat --ranks -b 2", true, Value::Null),
            ("rockhound occupancy --arch gfx942 --vgpr 96", true, Value::Null),
            ("rockhound tune --init KERNEL.hip > tune.toml", true, Value::Null),
            ("rockhound tune --gpu mi300x -- python a.py", true, Value::Null),
            ("", true, Value::Null),
        ];
        for (command, may_run, expected) in cases {
            let step = json!({ "kind": "look", "why": "to see", "command": command });
            let mut document =
                json!({ "verdict": { "kernel": "void copy<float>(float*)" }, "steps": [step] });
            with_tools(&mut document, may_run);
            let made = &document["steps"][0];
            let mut call = json!([made["tool"], made["arguments"]]);
            if made["other_ids"].is_array() {
                call.as_array_mut().unwrap().push(made["other_ids"].clone());
            }
            if expected.is_null() {
                assert_eq!(*made, step, "{command}");
            } else {
                assert_eq!(call, expected, "{command}");
                assert_eq!((&made["kind"], &made["command"]), (&json!("look"), &Value::Null), "{command}");
            }
        }
    }
}
