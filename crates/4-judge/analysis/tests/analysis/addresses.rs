//! Addresses of the memory instructions of the fixture kernels, as far as they are known.
//!
//! The golden file is written by the code and reviewed by eye against the sources; update it with
//! `UPDATE_GOLDEN=1 cargo test -p rockhound-analysis --test addresses`.

use rockhound_analysis::affine::{Access, Addresses, LANES, Step};
use rockhound_analysis::{KernelEvidence, Source};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const FOLDERS: [&str; 6] = ["lds001", "lds002", "mem001", "mem002", "mem005", "mem008"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/rules")
}

fn lanes(addresses: &Addresses, access: &Access) -> String {
    let Some(lanes) = addresses.lanes(access) else { return "lanes unknown".to_owned() };
    let step = lanes[1].wrapping_sub(lanes[0]) as i32;
    let is_linear = (1..LANES).all(|i| lanes[i].wrapping_sub(lanes[i - 1]) as i32 == step);
    if is_linear {
        return format!("{step} per lane");
    }
    let shown: Vec<String> =
        lanes.iter().take(20).map(|lane| lane.wrapping_sub(lanes[0]).to_string()).collect();
    format!("lanes {}…", shown.join(" "))
}

fn describe(evidence: &KernelEvidence<'_>, access: &Access) -> String {
    let addresses = evidence.addresses();
    let mut line = lanes(addresses, access);
    let mut around = evidence.cfg.loop_of(access.inst);
    while let Some(id) = around {
        let step = match addresses.step(access, &evidence.cfg, id) {
            None => "moves unknown".to_owned(),
            Some(Step::Bytes(0)) => "stays".to_owned(),
            Some(Step::Bytes(bytes)) => format!("{bytes} bytes"),
            Some(Step::Uniform(marks)) if marks.grid => "uniform, by a size".to_owned(),
            Some(Step::Uniform(_)) => "uniform".to_owned(),
        };
        write!(line, "; loop {}: {step}", id + 1).unwrap();
        around = evidence.cfg.loops[id as usize].parent;
    }
    line
}

#[test]
fn addresses_of_the_fixtures() {
    let mut text = String::new();
    for name in FOLDERS {
        for kind in ["trigger", "miss"] {
            let path = folder().join(name).join(format!("{kind}.hsaco"));
            let data = std::fs::read(&path).unwrap();
            let object = codeobj::CodeObject::read(&data).unwrap();
            for kernel in &object.kernels {
                let evidence =
                    KernelEvidence::gather(&object, kernel, Source::Binary { data: &data, lines: None });
                writeln!(text, "{name}/{kind} {}", kernel.name).unwrap();
                for access in evidence.addresses().accesses() {
                    let instruction = evidence.insts[access.inst as usize].op.info().name;
                    writeln!(text, "    {instruction:<50} {}", describe(&evidence, access)).unwrap();
                }
            }
        }
    }
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/addresses.txt");
    testkit::golden_file(golden, &text);
}
