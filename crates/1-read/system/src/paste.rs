//! Bug reports as people paste them: outputs of tools, environments, commands and logs in one text.
//!
//! Parts are found by their content; the fences and headings of Markdown only separate them. The text of the log
//! keeps its line numbers: lines of other parts are empty in it.

use crate::command::{self, Command, Kind};
use crate::outputs::{collect_env, lscpu, rocm_smi, rocminfo};
use crate::{Document, recognize};
use std::collections::BTreeMap;

/// Longest text that is looked at as a report, bytes; a longer one is a log.
pub const MOST_BYTES: usize = 16 << 20;
/// Most parts of a report.
const MOST_PARTS: usize = 2_000;

/// A report in its parts.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Paste {
    /// Outputs of tools and environments, in order; each is named by file and line.
    pub documents: Vec<Document>,
    /// Commands of jobs: first line and text.
    pub commands: Vec<(u32, String)>,
    /// Blocks for other readers, or for none: first line and text.
    pub blocks: Vec<(u32, String)>,
    /// All other lines; the lines of the parts above are empty.
    pub log: String,
}

/// One line: number from 1, text.
type Line<'a> = (u32, &'a str);

/// Whether a text is more than one log: it has fences, or outputs of tools.
pub fn is(text: &str) -> bool {
    text.lines().any(|line| is_fence(line) || starts_tool(line))
        && (text.lines().filter(|line| is_fence(line)).count() > 1
            || text.lines().any(|line| logs::entry(line).level.is_some())
            || text.lines().filter(|line| starts_tool(line)).count() > 1)
}

/// Splits a report.
pub fn split(name: &str, text: &str) -> Paste {
    let mut paste = Paste::default();
    let mut kept: Vec<&str> = Vec::new();
    let mut stretch: Vec<Line<'_>> = Vec::new();
    let mut is_fenced = false;
    for (number, line) in (1u32..).zip(text.lines()) {
        kept.push("");
        if is_fence(line) {
            paste.stretch(name, &std::mem::take(&mut stretch), is_fenced, &mut kept);
            is_fenced = !is_fenced;
        } else {
            stretch.push((number, line));
        }
    }
    paste.stretch(name, &stretch, is_fenced, &mut kept);
    paste.log = kept.join("\n");
    paste
}

/// Outputs of a tool that a launcher ran on several ranks, each line with its rank before it (`srun --label`); `None` if
/// the lines are something else.
pub fn labelled(name: &str, text: &str) -> Option<Paste> {
    let mut ranks: BTreeMap<u32, Vec<Line<'_>>> = BTreeMap::new();
    let mut kept: Vec<&str> = Vec::new();
    let (mut lines, mut with_rank) = (0, 0);
    for (number, line) in (1u32..).zip(text.lines()) {
        kept.push("");
        lines += usize::from(!line.trim().is_empty());
        match label(line) {
            Some((rank, rest)) => {
                with_rank += 1;
                ranks.entry(rank).or_default().push((number, rest));
            }
            None => keep(&mut kept, number, line),
        }
    }
    if 2 * with_rank < lines || ranks.len() > MOST_PARTS {
        return None;
    }
    let mut paste = Paste::default();
    for (rank, lines) in &ranks {
        match recognize(&format!("{name}, rank {rank}"), dedented(lines).as_bytes()) {
            Ok(document) if !document.is_log() => paste.documents.push(document),
            _ => lines.iter().for_each(|(number, line)| keep(&mut kept, *number, line)),
        }
    }
    paste.log = kept.join("\n");
    (!paste.documents.is_empty()).then_some(paste)
}

/// Rank and rest of a line such as ` 3: text`.
fn label(line: &str) -> Option<(u32, &str)> {
    let (rank, rest) = line.trim_start().split_once(':')?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    rank.parse().ok().map(|rank| (rank, rest))
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start_matches(['>', ' ', '\t']);
    line.starts_with("```") || line.starts_with("~~~")
}

/// Whether a line is the first of a tool's output.
fn starts_tool(line: &str) -> bool {
    let text = line.trim();
    text.starts_with("Collecting environment information")
        || text.starts_with("PyTorch version")
        || text.starts_with("ROCM available:")
        || text == "System Info"
        || text.contains(rocm_smi::BANNER)
        || text.starts_with("ROCk module")
        || text.starts_with("Architecture:")
        || text == "HSA System Attributes"
}

/// Whether a line belongs to a log whatever is around it.
fn is_log(line: &str) -> bool {
    let entry = logs::entry(line);
    entry.time.is_some()
        || entry.level.is_some()
        || !entry.who.is_unknown()
        || logs::looks_like_error(&entry.text, None)
        || entry.text.starts_with("Traceback (most recent call last)")
        || entry.text.starts_with("Memory access fault by GPU")
}

impl Paste {
    /// The command that started the job: of several the last one of a launcher, a container or a server.
    pub fn job(&self) -> Option<Command> {
        let starts =
            |it: &Command| it.stages.iter().any(|stage| !matches!(stage.kind, Kind::Other | Kind::Python));
        let commands: Vec<Command> =
            self.commands.iter().map(|(_, text)| Command::parse(&command::split(text))).collect();
        commands.iter().rev().find(|it| starts(it)).or(commands.last()).cloned()
    }

    /// A stretch between two fences, or inside a pair of them.
    fn stretch<'a>(&mut self, name: &str, lines: &[Line<'a>], is_fenced: bool, kept: &mut [&'a str]) {
        let mut part: Vec<Line<'a>> = Vec::new();
        let mut in_tool = false;
        for (number, line) in lines.iter().copied() {
            let is_heading = !is_fenced && line.starts_with('#');
            // The report of `collect_env` has outputs of other tools in it.
            let starts = starts_tool(line) && !(in_tool && part.iter().any(|(_, it)| is_report_head(it)));
            let ends = in_tool && (is_heading || is_log(line) && !line.trim_start().starts_with('['));
            if starts && !(in_tool && part.len() < 4) || ends || is_prompt(line) {
                self.part(name, &std::mem::take(&mut part), is_fenced, kept);
                in_tool = starts;
            }
            part.push((number, line));
        }
        self.part(name, &part, is_fenced, kept);
    }

    /// Lines that belong together: a tool's output, a command, an environment, or a log.
    fn part<'a>(&mut self, name: &str, lines: &[Line<'a>], is_fenced: bool, kept: &mut [&'a str]) {
        let Some((first, _)) = lines.iter().find(|(_, line)| !line.trim().is_empty()).copied() else {
            return;
        };
        if self.documents.len() + self.commands.len() + self.blocks.len() > MOST_PARTS {
            lines.iter().for_each(|(number, line)| keep(kept, *number, line));
            return;
        }
        let text = dedented(lines);
        if let Some((command, rest)) = command_of(&text, is_fenced) {
            self.commands.push((first, command));
            if rest < lines.len() {
                self.part(name, &lines[rest..], is_fenced, kept);
            }
            return;
        }
        let place = format!("{name}:{first}");
        let is_report = collect_env::is(&text) || lscpu::is(&text) || text.contains(rocm_smi::BANNER);
        if (is_fenced || is_report || rocminfo::is(&text))
            && let Ok(document) = recognize(&place, text.as_bytes())
        {
            self.documents.push(document);
            return;
        }
        if is_fenced && !lines.iter().any(|(_, line)| is_log(line)) {
            self.blocks.push((first, text));
            return;
        }
        lines.iter().for_each(|(number, line)| keep(kept, *number, line));
    }
}

/// Heads of the report of `collect_env`.
fn is_report_head(line: &str) -> bool {
    let text = line.trim();
    text.starts_with("Collecting environment")
        || text.starts_with("PyTorch version")
        || text.starts_with("ROCM available:")
        || text == "System Info"
}

/// Puts a line back into the log.
fn keep<'a>(kept: &mut [&'a str], number: u32, line: &'a str) {
    if let Some(slot) = kept.get_mut(number as usize - 1) {
        *slot = line;
    }
}

/// Lines without the marks of a quotation and the indentation that all of them have.
fn dedented(lines: &[Line<'_>]) -> String {
    let mut filled = lines.iter().map(|(_, line)| *line).filter(|line| !line.trim().is_empty());
    let quoted = filled.all(|line| line.starts_with('>'));
    let unquoted = |line| if quoted { str::trim_start_matches(line, ['>', ' ']) } else { line };
    let text: String = lines.iter().flat_map(|(_, line)| [unquoted(line), "\n"]).collect();
    crate::recognize::dedented(&text).into_owned()
}

/// A line that a shell's prompt begins.
fn is_prompt(line: &str) -> bool {
    prompt(line).is_some()
}

/// Text behind a prompt: `$ command`, `root@host:/app# command`.
fn prompt(line: &str) -> Option<&str> {
    let line = line.trim_start();
    if let Some(rest) = line.strip_prefix("$ ") {
        return Some(rest);
    }
    let (head, rest) = line.split_once("# ").or_else(|| line.split_once("$ "))?;
    (head.contains('@') && head.contains(':') && !head.contains(' ')).then_some(rest)
}

/// Programs that start a job.
fn starts_job(text: &str) -> bool {
    let command = Command::parse(&command::split(text));
    command.stages.iter().any(|stage| {
        !matches!(stage.kind, Kind::Other | Kind::Python)
            || stage.kind == Kind::Python && !stage.words.is_empty()
    })
}

/// The command at the beginning of a part, and the number of its lines.
fn command_of(text: &str, is_fenced: bool) -> Option<(String, usize)> {
    let mut lines = text.lines().enumerate().skip_while(|(_, line)| line.trim().is_empty());
    let (start, first) = lines.next()?;
    let with_prompt = prompt(first);
    let mut command = with_prompt.unwrap_or(first).trim().to_owned();
    let mut used = start + 1;
    let assigns = |line: &str| {
        let line = line.trim().strip_prefix("export ").unwrap_or(line.trim());
        line.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
        })
    };
    // Assignments before the command are a part of it.
    let mut exports = String::new();
    while (command.starts_with("export ") || assigns(&command) && !command.contains(' '))
        && !command.ends_with('\\')
    {
        exports.push_str(command.trim_start_matches("export "));
        exports.push(' ');
        let (at, next) = lines.next()?;
        command = prompt(next).unwrap_or(next).trim().to_owned();
        used = at + 1;
    }
    while command.ends_with('\\') {
        command.pop();
        let Some((at, next)) = lines.next() else { break };
        command.push(' ');
        command.push_str(next.trim());
        used = at + 1;
    }
    let whole = format!("{exports}{command}");
    if with_prompt.is_none() && !is_fenced {
        return None;
    }
    let is_shell = !command.contains(": ") && command.len() < 20_000;
    (is_shell && starts_job(&whole)).then_some((whole, used))
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "### Your environment\n\n<details>\n\n```text\nCollecting environment information...\nPyTorch version: 2.9.0\nROCM used to build PyTorch: 7.0.5\nGPU models and configuration: AMD Instinct MI300X (gfx942:sramecc+:xnack-)\n==== ROCm System Management Interface ====\n==== Link Type between two GPUs ====\n       GPU0  GPU1\nGPU0   0     XGMI\nGPU1   XGMI  0\n```\n\nI run\n\n```bash\nexport HSA_OVERRIDE_GFX_VERSION=9.4.2\ndocker run -e A=1 \\\n  img vllm serve m -tp 2\n```\n\nand get\n\n```\n(Worker_TP1 pid=9) INFO 02-24 02:39:34 [a.py:1] ok\nMemory access fault by GPU node-3 (Agent handle: 0x1) on address 0x7000. Reason: Unknown.\n```\n\n    $ python train.py\n    RuntimeError: HIP error: invalid device function\n\n```csv\nM,N,K\n1,2,3\n```\n";

    #[test]
    fn a_report_in_its_parts() {
        assert!(is(REPORT));
        let paste = split("r.md", REPORT);
        let kinds: Vec<(&str, &str)> = paste.documents.iter().map(|it| (it.name.as_str(), it.kind)).collect();
        assert!(matches!(kinds[..], [("r.md:6", kind)] if kind.ends_with("collect_env")), "{kinds:?}");
        assert_eq!(
            paste.commands,
            [
                (20, "HSA_OVERRIDE_GFX_VERSION=9.4.2 docker run -e A=1  img vllm serve m -tp 2".to_owned()),
                (32, "python train.py".to_owned())
            ]
        );
        assert_eq!(paste.blocks, [(36, "M,N,K\n1,2,3\n".to_owned())]);
        let log: Vec<(usize, &str)> =
            paste.log.lines().enumerate().filter(|(_, it)| is_log(it)).map(|(at, it)| (at + 1, it)).collect();
        assert_eq!(log.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [28, 29, 33]);
    }

    #[test]
    fn lines_with_the_rank_before_them_are_outputs_of_each_rank() {
        let of_rank = "\n======== ROCm System Management Interface ========\n==== Concise Info ====\n\
            GPU  Temp   AvgPwr  SCLK    MCLK     Fan  Perf  PwrCap  VRAM%  GPU%\n\
            0    39.0c  88.0W   800Mhz  1600Mhz  0%   auto  560.0W    0%   0%\n==== End of ROCm SMI Log ====";
        let mut text = "+ srun --label rocm-smi\n".to_owned();
        for rank in [1, 0] {
            // The rank's own GPU 0 is another board.
            let of_rank = of_rank
                .replace("GPU  Temp ", "GPU  Node  Temp ")
                .replace("0    39.0c", &format!("0    {}     39.0c", 4 + rank));
            text.extend(of_rank.lines().map(|line| format!(" {rank}: {line}\n")));
        }
        let paste = labelled("out.txt", &text).unwrap();
        let names: Vec<&str> = paste.documents.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["out.txt, rank 0", "out.txt, rank 1"]);
        assert_eq!(paste.log.trim_end(), "+ srun --label rocm-smi");
        let machine = crate::Machine::read(&crate::Tree::new(""), &paste.documents);
        let gpus: Vec<&str> = machine.gpus.get().unwrap().iter().map(|it| it.name.as_str()).collect();
        assert_eq!(gpus, ["GPU 0", "GPU 0 of node 5"]);
        for log in ["0: loss 3.5\n1: loss 3.5\n0: RuntimeError: HIP error\n", "2024-01-01 10:00:00: x\n", ""]
        {
            assert_eq!(labelled("log", log), None, "{log}");
        }
    }

    #[test]
    fn a_log_is_no_report() {
        for text in ["[rank0]: all well\n", "", "hello\n", "[ 1.000001] amdgpu 0000:05:00.0: x\n"] {
            assert!(!is(text), "{text}");
        }
    }

    #[test]
    fn every_cut_keeps_the_lines() {
        for end in (0..REPORT.len()).filter(|at| REPORT.is_char_boundary(*at)) {
            let text = &REPORT[..end];
            assert!(split("r", text).log.lines().count() <= text.lines().count());
        }
    }
}
