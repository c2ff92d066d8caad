//! Any bytes as a trace of any tool.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(timeline) = trace::read("out.csv", &mut &*data) {
        assert!((0..timeline.gpu.len()).all(|at| timeline.gpu.end[at] >= timeline.gpu.start[at]));
        let mut bytes = 0;
        let mut take = |piece: &str| -> Result<(), ()> {
            bytes += piece.len();
            Ok(())
        };
        assert!(trace::write::chrome(&timeline, &mut take).is_ok() && bytes > 0);
    }
});
