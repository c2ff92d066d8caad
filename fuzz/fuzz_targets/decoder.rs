//! Any bytes on any instruction set: decoding covers every byte once, and text and effects never panic.
#![no_main]

use isa::{Isa, decode_all};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, code)) = bytes.split_first() else { return };
    let isa = Isa::ALL[usize::from(first) % Isa::ALL.len()];
    let mut at = 0;
    let mut text = String::new();
    for inst in decode_all(isa, code) {
        assert_eq!(inst.offset, at);
        assert!(inst.size > 0);
        at += u32::from(inst.size);
        text.clear();
        inst.write_text(isa, &mut text);
        assert!(!text.is_empty());
        let mut registers = 0u64;
        inst.visit_reads(|range| registers += u64::from(range.count));
        inst.visit_writes(|range| registers += u64::from(range.count));
        assert!(registers < 1000);
        let _ = (inst.mem(), inst.class(), inst.returns_value(), inst.target(), inst.destination());
    }
    assert_eq!(at as usize, code.len());
});
