//! Prints what is read from files: one line per kernel. A tool for developing this crate.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a program, not part of the library"
)]

use rockhound_codeobj::{LineTable, Target, Wanted, recognise, scan};

fn main() {
    let mut wanted = Vec::new();
    let mut quiet = false;
    for argument in std::env::args().skip(1) {
        if let Some(target) = argument.strip_prefix("--arch=") {
            wanted.extend(Target::parse(target));
            continue;
        }
        if argument == "-q" {
            quiet = true;
            continue;
        }
        let data = std::fs::read(&argument).expect("readable file");
        println!("{argument}: {:?}", recognise(&data));
        let started = std::time::Instant::now();
        let (mut objects, mut kernels, mut warnings, mut arguments) = (0, 0, 0, 0);
        let found = match scan(&data, &Wanted::targets(wanted.clone())) {
            Ok(found) => found,
            Err(error) => {
                println!("  {error}; {}", error.hint);
                continue;
            }
        };
        for found in found {
            let found = match found {
                Ok(found) => found,
                Err(error) => {
                    println!("  {error}; {}", error.hint);
                    continue;
                }
            };
            match found.read() {
                Err(error) => println!("  {error}; {}", error.hint),
                Ok(object) => {
                    objects += 1;
                    kernels += object.kernels.len();
                    warnings += object.warnings.len();
                    arguments +=
                        object.kernels.iter().map(|kernel| kernel.metadata.arguments.len()).sum::<usize>();
                    if !quiet {
                        println!(
                            "  {} {} v{} {:?}",
                            object.origin, object.target, object.version, object.warnings
                        );
                        let lines = LineTable::read(&found.data).expect("lines");
                        println!("  lines: {:?}", lines.absent());
                        for kernel in &object.kernels {
                            println!(
                                "    {} {:?} {:?}\n      {:?}",
                                kernel.demangled, kernel.body, kernel.descriptor, kernel.metadata
                            );
                            if let rockhound_codeobj::Body::Code { address, .. } = kernel.body {
                                println!("      {:?}", lines.frames(address));
                            }
                        }
                    }
                }
            }
        }
        println!(
            "  {objects} code objects, {kernels} kernels, {arguments} arguments, {warnings} warnings in {:?}",
            started.elapsed()
        );
    }
}
