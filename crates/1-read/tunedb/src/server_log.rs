//! Logs of servers: problems for which AITER, vLLM and SGLang found no tuned entry, and problems that hipBLASLt
//! logs among them.
//!
//! A message is searched within its line, so that workers, ranks and times in front of it do not matter. A
//! problem that is named again counts as one more call. Sizes are PyTorch's. A log is read piece by piece, so that
//! its size does not matter.

use crate::error::Error;
use crate::format::Format;
use crate::hipblaslt;
use crate::lines::{Ending, Line};
use crate::model::{GemmShape, Kind, MOST_ROWS, MoeShape, Row, Said, Shape, Tunings};
use crate::moe_name::MoeName;
use std::borrow::Cow;
use std::collections::HashMap;

/// AITER, products: `shape is M:8, N:32, K:6144 …, not found tuned config in TABLE, will use default config!`.
const PRODUCT: &str = "shape is ";
const NOT_FOUND: &str = "not found tuned config in ";
/// AITER, mixtures of experts: `[fused_moe] using 2stage default for (304, 64, 4096, …)`.
const EXPERTS: &str = "[fused_moe] using ";
const DEFAULT_FOR: &str = " default for (";
/// vLLM and SGLang: `Config file not found at PATH`.
const CONFIGURATION: &str = "Config file not found at ";

/// Key columns of AITER's table of mixtures of experts behind the compute units, in the order of the message.
const EXPERT_COLUMNS: [&str; 12] = [
    "token",
    "model_dim",
    "inter_dim",
    "expert",
    "topk",
    "act_type",
    "dtype",
    "q_dtype_a",
    "q_dtype_w",
    "q_type",
    "use_g1u1",
    "doweight_stage1",
];

/// Reasons why a row has no candidate.
const DEFAULT: &str = "no entry: the library's default";
const NO_TIME: &str = "a message has no time";

/// Whether one of the messages is anywhere in a text.
pub(crate) fn recognize(bytes: &[u8]) -> Option<Format> {
    let found = [NOT_FOUND, CONFIGURATION, EXPERTS]
        .iter()
        .any(|it| memchr::memmem::find(bytes, it.as_bytes()).is_some());
    found.then_some(Format::ServerLog)
}

/// Bytes of a log behind which a file without another format is looked through for messages.
pub const LONG: usize = 1 << 24;

/// Whether a long file may be such a log by its beginning: no other format is recognised by it.
pub fn may_be(head: &[u8]) -> bool {
    crate::recognized(head).is_none_or(|it| it == Format::ServerLog)
}

/// Whether a text has an object of JSON on each of its first lines.
pub(crate) fn is_json_lines(head: &[u8]) -> bool {
    let whole = |it: &&[u8]| it.starts_with(b"{") && it.trim_ascii_end().ends_with(b"}");
    let mut lines = head.split(|it| *it == b'\n').take(2);
    lines.next().is_some_and(|it| whole(&it)) && lines.next().is_some_and(|it| it.starts_with(b"{"))
}

/// Reads a log.
///
/// # Errors
/// Fails if no message is whole.
pub(crate) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut scan = Scan::new();
    scan.feed(bytes);
    let tunings = scan.finish(name)?;
    Ok(Tunings { bytes, ..tunings })
}

/// Reader of a log of any size: [`feed`](Scan::feed) pieces, then [`finish`](Scan::finish). Memory is bounded by
/// the number of different problems.
pub struct Scan {
    search: ::logs::Search,
    problems: Problems,
}

#[derive(Default)]
struct Problems {
    rows: Vec<Row<'static>>,
    seen: HashMap<(Cow<'static, str>, String), usize>,
    /// More problems than a log can have.
    full: bool,
}

impl Default for Scan {
    fn default() -> Scan {
        Scan::new()
    }
}

impl Scan {
    /// At the beginning of a log.
    pub fn new() -> Scan {
        let words = [NOT_FOUND, CONFIGURATION, EXPERTS, hipblaslt::COMMAND];
        Scan { search: ::logs::Search::new(&words), problems: Problems::default() }
    }

    /// Reads a piece.
    pub fn feed(&mut self, piece: &[u8]) {
        self.search.feed(piece, &mut |line| self.problems.line(line));
    }

    /// The problems of the log. Rows keep their lines; spans are places in the whole text.
    ///
    /// # Errors
    /// Fails if no message is whole, or if there are more problems than any log has.
    pub fn finish(mut self, name: &str) -> Result<Tunings<'static>, Error> {
        let lines = self.search.finish(&mut |line| self.problems.line(line));
        if self.problems.full {
            return Err(Error::new(lines, format!("more than {MOST_ROWS} rows")));
        }
        if self.problems.rows.is_empty() {
            return Err(Error::new(0, "the messages about missing entries in it name no problem"));
        }
        let mut tunings = Tunings::new(name, Format::ServerLog, b"");
        tunings.rows = self.problems.rows;
        Ok(tunings)
    }
}

impl Problems {
    fn line(&mut self, found: &::logs::Found<'_>) {
        let Some(text) = found.text() else { return };
        let text = text.trim_end();
        let span = found.start..found.start + found.bytes.len();
        let line = Line { number: found.line, span, text, ending: Ending::Lf, invalid: false };
        let row = product(&line, text)
            .or_else(|| configuration(&line, text))
            .or_else(|| experts(&line, text))
            .or_else(|| hipblaslt::command_in(&line).map(row_major));
        let Some(row) = row else { return };
        let row = row.into_owned();
        match self.seen.get(&(row.operation.clone(), row.key.to_string())) {
            Some(at) => self.rows[*at].calls += 1,
            None if self.rows.len() >= MOST_ROWS => self.full = true,
            None => {
                self.seen.insert((row.operation.clone(), row.key.to_string()), self.rows.len());
                self.rows.push(row);
            }
        }
    }
}

/// The name and value of a row's key: `M=8,bias=False` are the columns of AITER's table.
pub fn columns<'r>(row: &'r Row<'_>) -> impl Iterator<Item = (&'r str, &'r str)> {
    row.key.split(',').filter_map(|it| it.split_once('='))
}

fn row<'a>(line: &Line<'a>, kind: Kind, operation: impl Into<Cow<'a, str>>, key: Cow<'a, str>) -> Row<'a> {
    let mut row = Row::new(line.number, line.span.clone(), kind, operation);
    row.key = key;
    row.candidate = Err(DEFAULT);
    row.time_us = Err(NO_TIME);
    row
}

fn product<'a>(line: &Line<'a>, text: &'a str) -> Option<Row<'a>> {
    let (problem, table) = text.split_once(NOT_FOUND)?;
    let (_, problem) = problem.split_once(PRODUCT)?;
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for word in problem.split([',', ' ']).filter(|it| !it.is_empty()) {
        let (name, value) = word.split_once([':', '='])?;
        let name = if name == "otype" { "outdtype" } else { name };
        pairs.push((name, value.trim_matches(['\'', '"'])));
    }
    let value = |name: &str| pairs.iter().find(|it| it.0 == name).map(|it| it.1);
    let size = |name: &str| value(name).and_then(|it| it.parse::<u64>().ok());
    let (m, n, k) = (size("M")?, size("N")?, size("K")?);
    let table = table.split([',', ' ']).next().unwrap_or_default();
    let family = family(table.rsplit('/').next().unwrap_or(table), size("B").is_some());
    let key: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut row = row(line, Kind::Gemm, family.clone(), Cow::Owned(key.join(",")));
    row.shape = GemmShape::of_long([m, n, k, size("B").unwrap_or(1)], None).map(Shape::Gemm);
    row.layout = Err("AITER's messages name no transposition: A is row-major, B is given as its transpose");
    row.types = types(value("q_dtype_w").or_else(|| value("dtype")), &family);
    Some(row)
}

fn types<'a>(stated: Option<&'a str>, family: &str) -> Said<Cow<'a, str>> {
    if let Some(stated) = stated {
        return Ok(Cow::Borrowed(stated));
    }
    ["a8w8", "a4w4", "bf16"]
        .into_iter()
        .find(|it| family.contains(it))
        .map(Cow::Borrowed)
        .ok_or("the message names no types")
}

/// The operation that a table tunes, by its name; the library's word if the message names no table.
fn family(table: &str, batched: bool) -> String {
    let Some(stem) = table.strip_suffix(".csv") else { return table.to_owned() };
    let stem = ["_tuned_gemm", "_tuned_batched_gemm", "_tuned", "_untuned_gemm"]
        .iter()
        .find_map(|end| stem.strip_suffix(end))
        .unwrap_or(stem);
    if batched { format!("batched {stem}") } else { stem.to_owned() }
}

fn configuration<'a>(line: &Line<'a>, text: &'a str) -> Option<Row<'a>> {
    let (_, path) = text.split_once(CONFIGURATION)?;
    // A list of the places that were searched has the same name in each.
    let path = path.trim_start_matches(['[', '\'', '"']);
    let path = &path[..path.find(".json")? + ".json".len()];
    let name = MoeName::parse(path)?;
    let (kind, operation) =
        if name.k.is_some() { (Kind::Gemm, "block_scaled_mm") } else { (Kind::Moe, "fused_moe") };
    let mut row = row(line, kind, operation, Cow::Borrowed(path));
    row.shape = Ok(Shape::Text(Cow::Owned(match name.k {
        Some(k) => format!("N={} K={k}", name.n),
        None => format!("E={} N={}", name.experts, name.n),
    })));
    row.types = name.dtype.map(Cow::Owned).ok_or("the name has no `dtype`: those of the model");
    row.candidate = Err("no file of that name: the default configuration");
    Some(row)
}

fn experts<'a>(line: &Line<'a>, text: &'a str) -> Option<Row<'a>> {
    let (_, rest) = text.split_once(EXPERTS)?;
    let (_, rest) = rest.split_once(DEFAULT_FOR)?;
    let (list, _) = rest.split_once(')')?;
    let mut values: Vec<&str> = list.split(',').map(|it| it.trim().trim_matches('\'')).collect();
    // Newer versions name the target first.
    let target = values.first().copied().filter(|it| it.starts_with("gfx"));
    if target.is_some() {
        values.remove(0);
    }
    let (units, values) = values.split_first()?;
    let pairs: Vec<(&str, &str)> = EXPERT_COLUMNS.into_iter().zip(values.iter().copied()).collect();
    let value = |name: &str| pairs.iter().find(|it| it.0 == name).map(|it| it.1);
    let size = |name: &str| value(name).and_then(|it| it.parse::<u64>().ok());
    let key: Vec<String> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let mut row = row(line, Kind::Moe, "fmoe", Cow::Owned(key.join(",")));
    row.shape = Ok(Shape::Moe(Box::new(MoeShape {
        tokens: size("token")?,
        model: size("model_dim"),
        inter: size("inter_dim"),
        experts: size("expert")?,
        top_k: size("topk"),
    })));
    row.types = match (value("q_dtype_a"), value("q_dtype_w")) {
        (Some(a), Some(w)) => Ok(Cow::Owned(format!("{a},{w}"))),
        _ => Err("the message is cut before the types"),
    };
    row.target = target.map(Cow::Borrowed).ok_or("the message names no target");
    row.cu_count = units.parse().map_err(|_| "the message names no number of compute units");
    Some(row)
}

/// A product of hipBLASLt in PyTorch's order: its first factor is PyTorch's second.
fn row_major(mut row: Row<'_>) -> Row<'_> {
    if let Ok(Shape::Gemm(shape)) = &mut row.shape {
        (shape.m, shape.n, shape.leading) = (shape.n, shape.m, None);
    }
    row.layout = row.layout.map(|it| Cow::Owned(it.chars().rev().collect()));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line each of what servers write, with the shape, types, operation and key read from it.
    const MESSAGES: [(&str, &str, &str, &str); 10] = [
        (
            "(Worker_TP1 pid=7) [aiter] shape is M:8, N:32, K:64 dtype='torch.bfloat16' otype='torch.float16' bias=False, scaleAB=False, bpreshuffle=True, not found tuned config in /tmp/aiter_configs/bf16_tuned_gemm.csv, will use default config! using torch solution:0",
            "8x32x64",
            "torch.bfloat16",
            "bf16 M=8,N=32,K=64,dtype=torch.bfloat16,outdtype=torch.float16,bias=False,scaleAB=False,bpreshuffle=True",
        ),
        (
            "[rank3]: [aiter] shape is M:16, N:5, K:7, not found tuned config in /tmp/a8w8_blockscale_tuned_gemm.csv, will use default config!",
            "16x5x7",
            "a8w8",
            "a8w8_blockscale M=16,N=5,K=7",
        ),
        (
            "2026-01-02 03:04:05 [aiter] shape is M:16, N:5, K:7, q_dtype_w:torch.int8, not found tuned config in a/a8w8_tuned_gemm.csv, will use default config!",
            "16x5x7",
            "torch.int8",
            "a8w8 M=16,N=5,K=7,q_dtype_w=torch.int8",
        ),
        (
            "shape is B:4, M:16, N:5, K:7, not found tuned config in CKGEMM, will use default config!",
            "16x5x7 batch 4",
            "",
            "CKGEMM B=4,M=16,N=5,K=7",
        ),
        (
            "WARNING 01-02 [fused_moe.py:887] Using default MoE config. Performance might be sub-optimal! Config file not found at ['/a/E=72,N=768,device_name=0x1586.json']",
            "E=72 N=768",
            "",
            "fused_moe /a/E=72,N=768,device_name=0x1586.json",
        ),
        (
            "[2026-01-02 TP1] Using default MoE kernel config. Performance might be sub-optimal! Config file not found at /s/triton_3_4_0/E=2,N=7,device_name=X,dtype=fp8_w8a8,block_shape=[128, 128]_down.json, you can create them",
            "E=2 N=7",
            "fp8_w8a8",
            "fused_moe /s/triton_3_4_0/E=2,N=7,device_name=X,dtype=fp8_w8a8,block_shape=[128, 128]_down.json",
        ),
        (
            "Using default W8A8 Block FP8 kernel config. Performance might be sub-optimal! Config file not found at /q/N=4096,K=7168,device_name=X,dtype=fp8_w8a8,block_shape=[128,128].json",
            "N=4096 K=7168",
            "fp8_w8a8",
            "block_scaled_mm /q/N=4096,K=7168,device_name=X,dtype=fp8_w8a8,block_shape=[128,128].json",
        ),
        (
            "[aiter] [fused_moe] using 2stage default for ('gfx950', 256, 64, 8192, 2048, 32, 9, 'ActivationType.Silu', 'torch.bfloat16', 'torch.f4', 'torch.f8', 'QuantType.per_1x32', True, False)",
            "64 tokens, 32 experts top 9, model 8192, inter 2048",
            "torch.f4,torch.f8",
            "fmoe token=64,model_dim=8192,inter_dim=2048,expert=32,topk=9,act_type=ActivationType.Silu,dtype=torch.bfloat16,q_dtype_a=torch.f4,q_dtype_w=torch.f8,q_type=QuantType.per_1x32,use_g1u1=True,doweight_stage1=False",
        ),
        (
            "[aiter] [fused_moe] using 1stage default for (304, 1, 4096, 1536, 256, 6)",
            "1 tokens, 256 experts top 6, model 4096, inter 1536",
            "",
            "fmoe token=1,model_dim=4096,inter_dim=1536,expert=256,topk=6",
        ),
        (
            "(EngineCore pid=9) hipblaslt-bench -m 32 -n 8 -k 64 --lda 64 --ldb 64 --ldc 32 --ldd 32 --transA T --transB N --a_type f16_r --b_type f16_r",
            "8x32x64",
            "f16_r",
            "matmul hipblaslt-bench -m 32 -n 8 -k 64 --lda 64 --ldb 64 --ldc 32 --ldd 32 --transA T --transB N --a_type f16_r --b_type f16_r",
        ),
    ];

    #[test]
    fn messages_of_servers_are_problems() {
        let mut text = String::from("INFO: server starts\n");
        for (line, ..) in MESSAGES {
            text.push_str(&format!("{line}\n{line}\nsomething else\n"));
        }
        let log = crate::read("server.log", text.as_bytes()).unwrap();
        assert_eq!(log.format, Format::ServerLog);
        assert_eq!(log.write(), text.as_bytes());
        assert_eq!(log.rows.len(), MESSAGES.len());
        for ((line, shape, types, key), row) in MESSAGES.into_iter().zip(&log.rows) {
            assert_eq!(row.shape.as_ref().unwrap().to_string(), shape, "{line}");
            assert_eq!(row.types.as_deref().unwrap_or_default(), types, "{line}");
            assert_eq!(format!("{} {}", row.operation, row.key), key, "{line}");
            assert_eq!(row.calls, 2, "{line}");
        }
        assert_eq!(log.rows[9].layout.as_deref(), Ok("NT"));
    }

    #[test]
    fn pieces_of_any_size_give_the_same() {
        let mut text = String::from("\u{1b}[1;36m(Worker pid=1)\u{1b}[0;0m starts\n\n");
        for (line, ..) in MESSAGES {
            text.push_str(&format!("{line}\nother\n{line}\n"));
        }
        text.push_str("{\"level\": \"info\", \"message\": \"[aiter] shape is M:9, N:5, K:7, not found tuned config in a/a8w8_tuned_gemm.csv, will\"}\n");
        text.push_str(
            "[aiter] shape is M:7, N:5, K:\u{1b}[0m9, not found tuned config in a/a8w8_tuned_gemm.csv, will",
        );
        let whole = crate::read("server.log", text.as_bytes()).unwrap();
        assert_eq!(whole.rows.len(), MESSAGES.len() + 2);
        assert_eq!((whole.rows[1].line, whole.rows[1].calls), (6, 2));
        assert!(whole.text(&whole.rows[1]).starts_with(b"[rank3]"));
        for size in [1, 7, 64, 1000] {
            let mut scan = Scan::new();
            text.as_bytes().chunks(size).for_each(|piece| scan.feed(piece));
            assert_eq!(scan.finish("server.log").unwrap().rows, whole.rows, "{size}");
        }
    }

    #[test]
    fn a_log_may_begin_with_a_bracket() {
        let message = "shape is M:16, N:5, K:7, not found tuned config in /tmp/a8w8_tuned_gemm.csv, will use";
        for line in [
            format!("[aiter] {message}"),
            format!("[2026-01-02 03:04:05 TP1] {message}"),
            format!(
                "{{\"time\": 1, \"message\": \"[aiter] {message}\"}}\n{{\"time\": 2, \"message\": \"x\"}}"
            ),
        ] {
            let log = crate::read("server.log", line.as_bytes()).unwrap();
            assert_eq!((log.format, log.rows.len()), (Format::ServerLog, 1), "{line}");
        }
    }

    #[test]
    fn messages_without_a_problem_are_no_log() {
        for line in [
            "Config file not found at ",
            "Config file not found at /etc/app.json",
            "shape is M:a, N:5, K:7, not found tuned config in x.csv",
            "not found tuned config in x.csv",
            "[fused_moe] using 2stage default for (...)",
        ] {
            assert!(crate::read("server.log", line.as_bytes()).is_err(), "{line}");
        }
    }
}
