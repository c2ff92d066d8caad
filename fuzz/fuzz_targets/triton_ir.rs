//! Triton's IR: whatever the text, it is read and summed up or refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = tritonir::recognise(data);
    if let Ok(dump) = tritonir::read(&text) {
        for module in &dump.modules {
            let _ = tritonir::kernels(module, None);
        }
    }
});
