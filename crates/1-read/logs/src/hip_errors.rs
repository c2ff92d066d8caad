//! Errors that HIP and the programs above it write as numbers or by name: rows of `data/hip-errors.tsv`.

use crate::message::{Kind, Message, Row};

/// Advice for errors that no other message explains.
const NEXT: &str = "AMD_LOG_LEVEL=3 COMMAND logs the calls with their arguments";
/// What prints them.
const SOURCE: &str = "HIP runtime, XLA";

/// Two messages for each number: `hipError_t(98)` and, in the runtime's log, `Returned hipError...`.
pub(crate) fn rows(known: &[Message]) -> Vec<Message> {
    let lines = include_str!("../data/hip-errors.tsv").lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| of_line(line, known)).flatten().collect()
}

fn of_line(line: &str, known: &[Message]) -> Option<[Message; 2]> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [number, name, kind, of, meaning] = fields[..] else { return None };
    let kind = match kind {
        "fault" => Kind::Fault,
        "fail" => Kind::Fail,
        "warn" => Kind::Warn,
        "info" => Kind::Info,
        _ => return None,
    };
    let explained = known.iter().find(|it| it.id == of);
    let meaning =
        explained.map_or_else(|| format!("{meaning} ({name}, {number})"), |row| row.meaning.clone());
    let next = explained.map_or_else(|| vec![NEXT.to_owned()], |row| row.next.clone());
    let row = |id: String, word: String, fields: Option<String>, test: String| {
        let mut row = Row::new(id, kind, word);
        row.fields = fields;
        row.strict = row.fields.is_some();
        row.meaning.clone_from(&meaning);
        row.next.clone_from(&next);
        row.test = vec![test];
        Message::new(row, false, SOURCE)
    };
    let by_number = format!("hipError_t({number})");
    let by_name = format!("Returned {name}");
    Some([
        row(
            format!("hip-error-{number}"),
            by_number.clone(),
            None,
            format!("INTERNAL: Failed call to hipGetFuncBySymbol: {by_number}"),
        ),
        row(
            format!("hip-returned-{number}"),
            by_name.clone(),
            Some(format!(r"(?<call>\w+): Returned (?<error>{name})\s*:")),
            format!(":3:hip_module.cpp :670 : 123 us: [pid:1 tid:0x7f] hipLaunchKernel: {by_name} : "),
        ),
    ])
}
