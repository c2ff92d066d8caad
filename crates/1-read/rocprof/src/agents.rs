//! Agents: the CPUs and GPUs of the machine that was recorded.
//!
//! Every output of the profiler lists them with the same names of facts: rocprofv3's JSON as `agents`, its CSV
//! files as `agent_info.csv`, rocpd as `rocpd_info_agent`.

use crate::json::{Cursor, Stop, text};
use std::collections::BTreeMap;

/// Number by which JSON says that an agent is a GPU.
pub(crate) const GPU: u64 = 2;

/// A CPU or GPU.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Agent {
    /// Number by which records name it.
    pub handle: u64,
    /// Number that the driver gave it.
    pub node: u64,
    /// Whether it is a GPU.
    pub is_gpu: bool,
    /// Facts with text or a number, under the profiler's names: `name` is the target of a GPU.
    pub facts: BTreeMap<String, String>,
}

impl Agent {
    /// A fact; empty if absent.
    pub fn fact(&self, name: &str) -> &str {
        self.facts.get(name).map_or("", String::as_str)
    }

    /// Adds the facts of a JSON object.
    pub(crate) fn add_json(&mut self, json: &str) -> Result<(), Stop> {
        // A number is over when something follows it.
        let json = format!("{json} ");
        Cursor::of(json.as_bytes()).object(|key, c| self.fact_of(key, c))
    }

    /// Takes one member of a JSON object: texts and positive numbers are facts, anything else is none.
    pub(crate) fn fact_of(&mut self, key: &[u8], c: &mut Cursor<'_>) -> Result<(), Stop> {
        let value = match c.peek()? {
            b'"' => Some(text(c.string()?).into_owned()),
            // `304.0` is 304, whoever wrote it.
            b'0'..=b'9' => {
                let raw = String::from_utf8_lossy(c.scalar()?).into_owned();
                let number = raw.parse::<f64>().ok().filter(|number| number.is_finite());
                number.map(|number| number.to_string())
            }
            _ => c.skip(0).map(|()| None)?,
        };
        if let Some(value) = value {
            self.facts.insert(text(key).into_owned(), value);
        }
        Ok(())
    }

    /// Compute units; 0 if they are not known.
    pub fn compute_units(&self) -> u32 {
        self.fact("cu_count").parse().unwrap_or(0)
    }
}

/// A table of agents cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct TableError {
    /// Line, 1-based.
    pub line: u64,
    /// Description.
    pub what: String,
}

/// Reads `agent_info.csv`. Names of columns become small letters.
///
/// # Errors
/// Fails on a table without rows, and on rows that lack cells.
pub fn table(bytes: &[u8]) -> Result<Vec<Agent>, TableError> {
    let header = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
    // Spreadsheets write semicolons where the comma is in numbers.
    let separator = if header.contains(&b',') || !header.contains(&b';') { b',' } else { b';' };
    let mut reader = csv::ReaderBuilder::new().delimiter(separator).from_reader(bytes);
    let error = |error: csv::Error| {
        let line = error.position().map_or(1, csv::Position::line);
        let what = match error.kind() {
            csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
                format!("the row has {len} fields, the header {expected_len}")
            }
            csv::ErrorKind::Utf8 { .. } => "the text is not UTF-8".to_owned(),
            _ => error.to_string(),
        };
        TableError { line, what }
    };
    let header = reader.headers().map_err(error)?;
    let name = |field: &str| field.trim_start_matches('\u{feff}').trim().to_ascii_lowercase();
    let names: Vec<String> = header.iter().map(name).collect();
    let mut agents = Vec::new();
    for row in reader.records() {
        let row = row.map_err(error)?;
        let cells = row.iter().map(|cell| cell.trim().to_owned());
        let facts: BTreeMap<String, String> =
            names.iter().cloned().zip(cells).filter(|(_, cell)| !cell.is_empty()).collect();
        let agent = Agent { facts, ..Agent::default() };
        let number = |fact| agent.fact(fact).parse().unwrap_or(0);
        agents.push(Agent {
            handle: number("id"),
            node: number("node_id"),
            is_gpu: agent.fact("agent_type").eq_ignore_ascii_case("gpu"),
            ..agent
        });
    }
    if agents.is_empty() {
        return Err(TableError { line: 1, what: "the table has no rows".to_owned() });
    }
    Ok(agents)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_agents() {
        let header = "\"Node_Id\",\"Agent_Type\",\"Name\",\"Cu_Count\"";
        for (text, want) in [
            (format!("{header}\n0,\"CPU\",\"x\",0\n4,\"GPU\",\"gfx942\",304\n"), Ok((4, "gfx942", 304))),
            (format!("\u{feff}{header}\r\n4, gpu ,gfx942,\r\n"), Ok((4, "gfx942", 0))),
            (header.replace(',', ";") + "\n2;GPU;gfx90a;104\n", Ok((2, "gfx90a", 104))),
            (format!("{header}\n4,GPU\n"), Err((2, "the row has 2 fields, the header 4"))),
            (header.to_owned(), Err((1, "the table has no rows"))),
            (String::new(), Err((1, "the table has no rows"))),
        ] {
            let read = table(text.as_bytes());
            let gpu = read.as_ref().map(|all| all.iter().find(|agent| agent.is_gpu).unwrap());
            let found = gpu.map(|gpu| (gpu.node, gpu.fact("name"), gpu.compute_units()));
            assert_eq!(found.map_err(|error| (error.line, error.what.as_str())), want, "{text}");
        }
    }

    #[test]
    fn facts_in_json() {
        let mut agent = Agent::default();
        let text = r#"{"cu_count": 304.0, "clock": 2100.5, "name": "a\u00e9", "none": null, "less": -1, "list": [1]}"#;
        agent.add_json(text).unwrap();
        let facts: Vec<(&str, &str)> = agent.facts.iter().map(|(name, v)| (&name[..], &v[..])).collect();
        assert_eq!(facts, [("clock", "2100.5"), ("cu_count", "304"), ("name", "aé")]);
        assert!(agent.add_json("not json").is_err());
    }
}
