#![doc = include_str!("../README.md")]

pub mod aiter;
pub mod aiter_config;
mod ck;
mod columns;
mod config_name;
mod configurations;
mod error;
mod format;
pub mod hipblaslt;
pub mod instances;
mod json;
mod lines;
pub mod logic;
mod logic_parts;
pub mod miopen;
mod miopen_key;
mod miopen_merge;
mod miopen_sqlite;
mod model;
pub mod moe;
mod moe_name;
mod profile_log;
mod rocblas;
pub mod server_log;
mod shape_list;
pub mod space;
mod space_parts;
mod tensile;
pub mod tensile_space;
pub mod triton;
pub mod tunableop;
mod types;
mod yaml;

pub use error::Error;
pub use format::Format;
pub use model::{
    Detail, Flaw, FlawKind, GemmShape, Kind, MoeShape, Row, Said, Shape, Stated, Tunings, Version, time,
};
pub use types::element;

/// Reads a tuning file. `name` is its path: MIOpen, vLLM, SGLang and AITER keep a part of the key in it.
///
/// # Errors
/// Fails if the file has none of the formats, or is so damaged that its rows cannot be separated.
pub fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    if bytes.is_empty() {
        return Err(Error::new(0, "the file is empty"));
    }
    if rocprof::database::is_database(bytes) {
        return miopen_sqlite::read(name, bytes);
    }
    let first = bytes.iter().copied().find(|it| !it.is_ascii_whitespace());
    if matches!(first, Some(b'{' | b'[')) && !looks_like_log(bytes) {
        // Lines of JSON are a log, too.
        return match (json_file(name, bytes), server_log::recognize(bytes)) {
            (Err(_), Some(_)) => server_log::read(name, bytes),
            (result, _) => result,
        };
    }
    if logic::is_logic(bytes) {
        return logic::read(name, bytes);
    }
    match text_format(bytes) {
        Some(Format::TunableOp) => tunableop::results(name, bytes),
        Some(Format::TunableOpUntuned) => tunableop::untuned(name, bytes),
        Some(Format::TunableOpLog) => tunableop::log(name, bytes),
        Some(Format::AiterTuned | Format::AiterUntuned) => aiter::read(name, bytes),
        Some(Format::TensileData) => tensile::data(name, bytes),
        Some(Format::TensileLog) => tensile::log(name, bytes),
        Some(Format::BenchOutput) => hipblaslt::output(name, bytes),
        Some(Format::TuningFile) => hipblaslt::tuning_file(name, bytes),
        Some(Format::ProblemLog) => hipblaslt::problem_log(name, bytes),
        Some(Format::FindExact) => configurations::find_exact(name, bytes),
        Some(Format::TensileConfig) => configurations::tensile(name, bytes),
        Some(Format::BenchProblems) => configurations::problem_set(name, bytes),
        Some(format @ (Format::FindDb | Format::PerfDb)) => miopen::database(name, bytes, format),
        Some(Format::DriverCommands) => miopen::log(name, bytes),
        Some(Format::ShapeList) => shape_list::read(name, bytes),
        Some(Format::ServerLog) => server_log::read(name, bytes),
        Some(format @ (Format::ProblemProfile | Format::RocblasLog)) => {
            profile_log::read(name, bytes, format)
        }
        Some(format @ (Format::RocblasBench | Format::RocblasOverride)) => rocblas::read(name, bytes, format),
        Some(Format::CkProfiler) => ck::read(name, bytes),
        _ if triton::is_log(bytes) => triton::log(name, bytes),
        _ => Err(unknown()),
    }
}

/// Format of a text, by the first reader that knows it.
fn text_format(bytes: &[u8]) -> Option<Format> {
    let recognizers = [
        tunableop::recognize,
        aiter::recognize,
        tensile::recognize,
        server_log::recognize,
        rocblas::recognize,
        profile_log::recognize,
        ck::recognize,
        hipblaslt::recognize,
        configurations::recognize,
        miopen::recognize,
        shape_list::recognize,
    ];
    recognizers.iter().find_map(|recognize| recognize(bytes))
}

/// Format of a text, a database or JSON by its beginning, as far as the beginning tells.
pub(crate) fn recognized(head: &[u8]) -> Option<Format> {
    let first = head.iter().copied().find(|it| !it.is_ascii_whitespace());
    match first {
        _ if rocprof::database::is_database(head) => Some(Format::PerfDbSqlite),
        Some(b'{' | b'[') if !looks_like_log(head) && !server_log::is_json_lines(head) => {
            Some(Format::AiterJson)
        }
        _ if logic::is_logic(head) => Some(Format::Logic),
        _ => text_format(head).or_else(|| triton::is_log(head).then_some(Format::AutotuneLog)),
    }
}

/// A file to be read, or one that was.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// Its bytes.
    Bytes(&'a [u8]),
    /// A log that was read piece by piece.
    Read(&'a Tunings<'static>),
}

fn unknown() -> Error {
    Error::new(0, "no tuning database that is known").hint(
        "known are files and logs of Kernel Tuner, TunableOp, hipBLASLt, rocBLAS, Composable Kernel, TensileLite, MIOpen, AITER, Triton, vLLM and SGLang; \
         see docs/tunedb.md",
    )
}

/// A log may begin with a bracket: `[0]:transA,…`, `[rank3]: Triton autotuning …`, `[aiter] shape is …`.
fn looks_like_log(bytes: &[u8]) -> bool {
    lines::lines(bytes).next().is_some_and(|line| {
        let inner = line.text.strip_prefix('[').and_then(|it| it.split_once(']'));
        inner.is_some_and(|(inner, rest)| {
            let rest = rest.trim_start();
            !rest.is_empty() && !rest.starts_with([',', ']', '}']) && !inner.contains(['{', '"'])
        })
    })
}

fn json_file<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    if let Some(format) = space::recognize(bytes) {
        return space::read(name, bytes, format);
    }
    if triton::is_events(bytes) {
        return triton::events(name, bytes);
    }
    let root = json::parse(lines::text(bytes)?)?;
    if triton::is_cache(&root.value) {
        return triton::cache(name, bytes, &root);
    }
    match moe::recognize(name, &root.value) {
        Some(Format::MoeJson | Format::BlockGemmJson) => moe::read_moe(name, bytes, &root),
        Some(_) => aiter_config::read(name, bytes, &root),
        None => Err(unknown()),
    }
}
