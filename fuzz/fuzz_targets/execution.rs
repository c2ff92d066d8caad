//! Any bytes as the code of a kernel with one wave, on any instruction set: it ends, faults or is stopped, and never panics.
#![no_main]

use codeobj::{Body, CodeObject, Descriptor, Kernel, Metadata, Target};
use emu::{InstructionCounts, Launch, Memory, Program, run};
use isa::Isa;
use libfuzzer_sys::fuzz_target;

/// Instructions after which a kernel is stopped.
const MOST: u64 = 2_000;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, code)) = bytes.split_first() else { return };
    let isa = Isa::ALL[usize::from(first) % Isa::ALL.len()];
    let code = &code[..code.len() / 4 * 4];
    let descriptor = Descriptor {
        lds_bytes: 4096,
        scratch_bytes: 64,
        vgprs_allocated: 512,
        accum_offset: 256,
        // The address of the arguments stands in the first two scalar registers.
        properties: 1 << 3,
        user_sgprs: 2,
        float_mode: 0xf0,
        ..Descriptor::default()
    };
    let kernel = Kernel {
        name: "k".to_string(),
        demangled: "k".to_string(),
        body: Body::Code { address: 0, bytes: 0..code.len() },
        descriptor: Some(descriptor),
        metadata: Metadata::default(),
    };
    let object = CodeObject {
        origin: String::new(),
        target: Target { processor: isa.processor().to_string(), ..Target::default() },
        version: 5,
        lines: 0..0,
        kernels: Vec::new(),
        functions: Vec::new(),
        formats: Vec::new(),
        warnings: Vec::new(),
    };
    let Ok(program) = Program::new(code, &object, &kernel) else { return };
    let mut memory = Memory::new();
    let kernarg = memory.allocate("arguments", 1 << 12);
    let launch = Launch { max_instructions: MOST, threads: 1, ..Launch::new([1, 1, 1], [64, 1, 1], kernarg) };
    let mut issued = 0;
    let counts = || InstructionCounts::new(&program);
    let result = run(&program, &memory, &launch, counts, |counts: InstructionCounts| issued += counts.total());
    assert!(issued <= MOST + 1);
    if let Ok(summary) = result {
        assert_eq!(summary.instructions, issued);
    }
});
