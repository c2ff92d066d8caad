//! Compiles device code and runs its kernels in a memory of its own.
#![allow(dead_code, reason = "each test uses some of it")]

use codeobj::CodeObject;
use rockhound_emu::{Hidden, InstructionCounts, Launch, Memory, Program, Summary, arguments, run};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

/// Code objects by source and target.
type Compiled = BTreeMap<(String, String), Option<Vec<u8>>>;

static COMPILED: Mutex<Compiled> = Mutex::new(BTreeMap::new());

/// Compiles a source of `tests/sources` once per target; `None`, with a message, if the compiler is missing.
pub(crate) fn compile(source: &str, target: &str) -> Option<Vec<u8>> {
    let mut compiled = COMPILED.lock().unwrap();
    let key = (source.to_string(), target.to_string());
    compiled.entry(key).or_insert_with(|| compile_now(source, target, &[])).clone()
}

fn compile_now(source: &str, target: &str, more: &[&str]) -> Option<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/sources");
    testkit::compile("clang++-22", &folder.join(source), target, more)
}

pub(crate) fn program(bytes: &[u8], kernel: &str) -> Program {
    let object = CodeObject::read(bytes).unwrap();
    let kernel = object.kernels.iter().find(|it| it.name == kernel).unwrap();
    let program = Program::new(bytes, &object, kernel).unwrap();
    assert_eq!(program.unsupported(), [] as [&str; 0], "{}", kernel.name);
    program
}

/// Bytes of the explicit arguments.
#[derive(Default)]
pub(crate) struct Arguments(pub(crate) Vec<u8>);

impl Arguments {
    pub(crate) fn put<const N: usize>(mut self, bytes: [u8; N]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(N), 0);
        self.0.extend(bytes);
        self
    }
    pub(crate) fn u32(self, value: u32) -> Self {
        self.put(value.to_le_bytes())
    }
    pub(crate) fn u64(self, value: u64) -> Self {
        self.put(value.to_le_bytes())
    }
    pub(crate) fn f64(self, value: f64) -> Self {
        self.put(value.to_le_bytes())
    }
}

/// Runs a kernel on whole workgroups; returns the summary and the instruction counts.
pub(crate) fn launch(
    program: &Program,
    memory: &mut Memory,
    workgroups: [u32; 3],
    workgroup: [u32; 3],
    explicit: Arguments,
) -> Result<(Summary, InstructionCounts), Box<rockhound_emu::Fault>> {
    let mut launch = Launch::new(workgroups, workgroup, 0);
    launch.max_instructions = 50_000_000;
    launch_with(program, memory, launch, explicit)
}

/// Prepares a launch: arguments and dispatch packet.
pub(crate) fn prepared<'l>(
    program: &Program,
    memory: &mut Memory,
    mut launch: Launch<'l>,
    explicit: &Arguments,
) -> Launch<'l> {
    let segment = arguments(program, &launch, &Hidden::default(), &explicit.0);
    launch.kernarg = memory.allocate_with("kernarg", &segment);
    launch.packet = memory.allocate_with("packet", &launch.dispatch_packet(program));
    launch
}

pub(crate) fn launch_with(
    program: &Program,
    memory: &mut Memory,
    launch: Launch<'_>,
    explicit: Arguments,
) -> Result<(Summary, InstructionCounts), Box<rockhound_emu::Fault>> {
    let launch = prepared(program, memory, launch, &explicit);
    let mut counts = InstructionCounts::new(program);
    let summary =
        run(program, memory, &launch, || InstructionCounts::new(program), |part| counts.merge(&part))?;
    assert_eq!(summary.instructions, counts.total());
    Ok((summary, counts))
}

pub(crate) fn u32s(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

pub(crate) fn f32s(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

pub(crate) fn f64s(values: impl IntoIterator<Item = f64>) -> Vec<u8> {
    values.into_iter().flat_map(f64::to_le_bytes).collect()
}

pub(crate) fn read_u32s(memory: &Memory, address: u64, count: usize) -> Vec<u32> {
    let bytes = memory.read(address, 4 * count).unwrap();
    bytes.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

pub(crate) fn read_f32s(memory: &Memory, address: u64, count: usize) -> Vec<f32> {
    read_u32s(memory, address, count).into_iter().map(f32::from_bits).collect()
}

pub(crate) fn read_f64s(memory: &Memory, address: u64, count: usize) -> Vec<f64> {
    let bytes = memory.read(address, 8 * count).unwrap();
    bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}
