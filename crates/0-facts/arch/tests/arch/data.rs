//! Every data file parses, and its facts agree with each other.

use rockhound_arch::{ElementType, Model, Target, Unit};

#[test]
fn every_target_is_whole() {
    let mut seen = 0;
    for name in Target::names() {
        let target = Target::by_name(name).unwrap();
        assert_eq!(target.name, name);
        assert_eq!(rockhound_arch::elf_machine(name).and_then(rockhound_arch::elf_processor), Some(name));
        // Registers are allocated in the steps in which descriptors count them.
        let family = rockhound_arch::DescriptorFamily::of(name).unwrap();
        assert_eq!(family.vgpr_step(false), target.registers.vgpr_granule.value, "{name}");
        assert_eq!(family.sgpr_step(), Some(target.registers.sgpr_granule.value), "{name}");
        assert_eq!(family.has_accum_offset(), target.registers.unified.value, "{name}");
        assert!(!target.matrix_shapes().is_empty(), "{name}");
        seen += 1;
    }
    assert_eq!(seen, 6);
    assert!(Target::by_name("gfx1100").is_none());
    assert_eq!(Target::by_name("gfx90a:sramecc+:xnack-").unwrap().name, "gfx90a");
}

#[test]
fn issue_costs_name_the_same_classes_everywhere() {
    let classes = |name| -> Vec<String> {
        Target::by_name(name).unwrap().issue.classes().map(|(class, _)| class.to_owned()).collect()
    };
    for name in Target::names() {
        assert_eq!(classes(name), classes("gfx942"), "{name}");
    }
}

#[test]
fn matrix_rates_do_not_exceed_the_peak() {
    for name in Target::names() {
        let target = Target::by_name(name).unwrap();
        for shape in target.matrix_shapes() {
            assert!(
                shape.cycles > 0 && shape.overlap_cycles.is_none_or(|overlap| overlap < shape.cycles),
                "{name} {shape:?}"
            );
            assert!(
                shape.mnemonic.contains(&format!("{}x{}x{}", shape.m, shape.n, shape.k)),
                "{name} {shape:?}"
            );
            let element = if shape.mnemonic.contains("_i32_") {
                "i8"
            } else if shape.mnemonic.contains("fp8")
                || shape.mnemonic.contains("bf8")
                || shape.mnemonic.contains("f8f6f4")
            {
                "f8"
            } else {
                ["xf32", "bf16", "f16", "f64", "f32"]
                    .into_iter()
                    .find(|e| shape.mnemonic.trim_end_matches("_1k").ends_with(e))
                    .unwrap()
            };
            let peak =
                u64::from(target.peak(Unit::Matrix, ElementType::by_name(element).unwrap()).unwrap().value);
            let sparse = if shape.mnemonic.starts_with("v_smfmac") { 2 } else { 1 };
            let rate = shape.operations() * u64::from(target.simds_per_cu.value) / u64::from(shape.cycles);
            assert!(rate <= peak * sparse, "{name} {}: {rate} of {peak}", shape.mnemonic);
        }
    }
}

/// Data-sheet peaks, 10^12 per second for one device.
#[test]
fn model_peaks_equal_the_data_sheets() {
    use Unit::{Matrix, Vector};
    for (model, unit, element, tera) in [
        ("mi100", Vector, "f64", 11.5),
        ("mi100", Vector, "f32", 23.1),
        ("mi100", Matrix, "f32", 46.1),
        ("mi100", Matrix, "f16", 184.6),
        ("mi100", Matrix, "bf16", 92.3),
        ("mi210", Vector, "f64", 22.6),
        ("mi210", Matrix, "f64", 45.3),
        ("mi210", Matrix, "f16", 181.0),
        ("mi250x", Vector, "f64", 47.9 / 2.0),
        ("mi250x", Matrix, "bf16", 383.0 / 2.0),
        ("mi250", Matrix, "f16", 362.1 / 2.0),
        ("mi300a", Vector, "f64", 61.3),
        ("mi300a", Matrix, "f16", 980.6),
        ("mi300x", Vector, "f64", 81.7),
        ("mi300x", Matrix, "f64", 163.4),
        ("mi300x", Vector, "f32", 163.4),
        ("mi300x", Matrix, "xf32", 653.7),
        ("mi300x", Matrix, "f16", 1307.4),
        ("mi300x", Matrix, "f8", 2614.9),
        ("mi300x", Matrix, "i8", 2614.9),
        ("mi325x", Matrix, "f8", 2614.9),
        ("mi350x", Vector, "f64", 72.1),
        ("mi350x", Matrix, "f16", 2306.9),
        ("mi355x", Vector, "f64", 78.6),
        ("mi355x", Matrix, "f64", 78.6),
        ("mi355x", Matrix, "f32", 157.3),
        ("mi355x", Matrix, "f16", 2516.6),
        ("mi355x", Matrix, "f8", 5033.2),
        ("mi355x", Matrix, "f4", 10066.3),
    ] {
        let element = ElementType::by_name(element).unwrap();
        let peak = Model::by_name(model).unwrap().peak_tera_ops(unit, element).unwrap();
        assert!((peak - tera).abs() < 0.06 + tera * 1e-3, "{model} {unit:?} {element}: {peak} is not {tera}");
    }
}

#[test]
fn every_model_is_whole() {
    for name in Model::names() {
        let model = Model::by_name(name).unwrap();
        assert!(model.name.to_lowercase().ends_with(name), "{name}");
        assert_eq!(model.compute_units.value % model.xcds.value, 0, "{name}");
        let built = model.target().compute_units_built_per_xcd.value;
        assert!(model.compute_units_per_xcd() <= built, "{name}");
        for partition in model.partitions.compute.get().into_iter().flatten() {
            assert_eq!(model.xcds.value % partition.xcds, 0, "{name} {partition:?}");
        }
        assert!(Model::of_target(model.target()).any(|other| other.name == model.name));
    }
    assert_eq!(Model::names().count(), 10);
    assert_eq!(Model::by_name("MI300X").unwrap().compute_units_per_xcd(), 38);
}

#[test]
fn an_engine_runs_at_the_clock_that_is_asked_for() {
    let model = Model::by_name("mi300x@1600").unwrap();
    assert_eq!(
        (model.running_mhz(), model.engine_mhz.value, model.key().as_str()),
        (1600, 2100, "mi300x@1600")
    );
    assert_eq!(model.lightly_used().running_mhz(), 1600);
    let plain = Model::by_name("mi300x").unwrap();
    assert_eq!((model.held_matrix_mhz(), plain.held_matrix_mhz()), (None, Some(1250)));
    let usual = Model::by_name("mi210").unwrap();
    assert_eq!((usual.running_mhz(), usual.lightly_used().running_mhz()), (1570, 1700));
    assert_eq!(usual.key(), "mi210");
    for name in Model::names() {
        let highest = Model::by_name(name).unwrap().engine_mhz.value;
        assert!(Model::by_name(&format!("{name}@{highest}")).is_some(), "{name}");
        assert!(Model::by_name(&format!("{name}@{}", highest + 1)).is_none(), "{name}");
    }
    for wrong in ["mi300x@", "mi300x@99", "mi300x@fast", "mi300x@1600@1600", "@1600"] {
        assert!(Model::by_name(wrong).is_none(), "{wrong}");
    }
}

/// The channel and bank hashes are uniform: below the first row, addresses reach every bank of every channel
/// equally often.
#[test]
fn lines_have_places_of_their_own_in_memory() {
    for target in Target::names().filter_map(Target::by_name) {
        let map = &target.memory_map;
        let (Ok(channel), Ok(bank), Some(row)) = (map.channel.get(), map.bank.get(), map.row_bit.value())
        else {
            continue;
        };
        let number = |bits: &[Vec<u32>], address: u64| {
            bits.iter()
                .map(|bits| bits.iter().map(|bit| address >> bit & 1).sum::<u64>() & 1)
                .collect::<Vec<_>>()
        };
        for model in Model::of_target(target) {
            assert_eq!(1 << channel.len(), model.hbm.channels.value, "{}", model.name);
        }
        // All banks are met within the bytes below the first row, as often as each other.
        let mut met = std::collections::BTreeMap::new();
        for address in (0..1u64 << row).step_by(128) {
            *met.entry((number(channel, address), number(bank, address))).or_insert(0) += 1;
        }
        assert_eq!(met.len(), 1 << (channel.len() + bank.len()), "{}", target.name);
        assert!(met.values().all(|count| *count == met.values().next().copied().unwrap()), "{}", target.name);
    }
}
