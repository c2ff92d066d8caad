//! Any bytes as a file that starts jobs: compose file, manifest, script, Dockerfile.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Some(Ok(jobs)) = system::job::jobs("x", &text) {
        assert!(!jobs.is_empty());
        for job in &jobs {
            let _ = job.documents();
            if let Some(command) = &job.command {
                command.communicates();
            }
        }
    }
});
