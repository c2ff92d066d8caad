//! Any bytes as a code object, as assembly text and as a Triton file: values or an error, and places inside the input.
#![no_main]

use codeobj::{Body, CodeObject, LineTable, apply_triton, read_text};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(mut object) = CodeObject::read(data) {
        check(&object, data.len(), 0);
        let _ = apply_triton(data, &mut object);
    }
    if let Ok(lines) = LineTable::read(data) {
        for address in [0, 0x1a00, 0x1b40, u64::MAX] {
            let _ = lines.frames(address);
        }
        let rows = lines.lines(0..u64::MAX);
        for row in &rows.rows {
            let _ = rows.file(row);
        }
    }
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(objects) = read_text(text)
    {
        let lines = text.split('\n').count();
        for mut object in objects {
            assert!(object.lines.start <= object.lines.end && object.lines.end <= lines);
            check(&object, 0, lines);
            let _ = apply_triton(br#"{"name": "k", "num_warps": 4}"#, &mut object);
        }
    }
});

fn check(object: &CodeObject, bytes: usize, text_lines: usize) {
    let kernels = object.kernels.iter().map(|kernel| &kernel.body);
    for body in kernels.chain(object.functions.iter().map(|function| &function.body)) {
        match body {
            Body::Code { bytes: range, .. } => assert!(range.start <= range.end && range.end <= bytes),
            Body::Text { lines } => assert!(lines.start <= lines.end && lines.end <= text_lines),
            Body::Absent => {}
        }
    }
}
