//! Registers and occupancy of kernels written in assembly, whose metadata says less than a compiler's.

use rockhound_analysis::{KernelEvidence, NamedRegisters, Source};
use std::path::Path;

/// Fixture; VGPRs, AGPRs, SGPRs as the card has them; registers the code names; waves per SIMD; written in
/// assembly.
#[allow(clippy::type_complexity, reason = "a table")]
const EXPECTED: &[(&str, (u32, u32, u32), (u32, u32), f64, bool)] = &[
    // 176 registers in the metadata, AGPRs from 96 on; 112 scalar registers, as they are allocated.
    ("res003/trigger_assembly", (96, 80, 112), (96, 80), 2.0, true),
    ("res003/trigger_unused", (96, 80, 112), (61, 80), 2.0, true),
    ("mat001/trigger_assembly", (64, 64, 112), (9, 64), 4.0, true),
    ("syn003/miss_roles", (64, 0, 96), (40, 0), 4.0, true),
    // Compiled: the metadata gives the number of AGPRs.
    ("syn001/miss", (6, 0, 14), (6, 0), 8.0, false),
];

#[test]
fn registers_where_the_metadata_gives_one_number() {
    for (name, (vgprs, agprs, sgprs), named, waves, in_assembly) in EXPECTED {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/rules");
        let data = std::fs::read(folder.join(name).with_extension("hsaco")).unwrap();
        let object = codeobj::CodeObject::read(&data).unwrap();
        let kernel = &object.kernels[0];
        let evidence = KernelEvidence::gather(&object, kernel, Source::Binary { data: &data, lines: None });
        let found = &evidence.resources;
        assert_eq!(
            (found.vgprs, found.agprs, found.sgprs),
            (Some(*vgprs), Some(*agprs), Some(*sgprs)),
            "{name}"
        );
        let code = NamedRegisters::of(&evidence.insts);
        assert_eq!((code.vgprs, code.agprs), *named, "{name}");
        assert_eq!(evidence.occupancy.as_ref().unwrap().waves_per_simd, *waves, "{name}");
        assert_eq!(object.assembly_sign(kernel).is_some(), *in_assembly, "{name}");
    }
}
