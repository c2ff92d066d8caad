//! Facts that two crates hold for their own reasons must agree.
//!
//! `arch` and `isa` do not know each other; here both are in sight.

use isa::{Cost, Isa, Op};
use std::collections::BTreeSet;

/// Cycles are known for every matrix instruction of a target, and for no others; the shapes are equal.
#[test]
fn matrix_instructions_have_cycles() {
    let mut checked = 0;
    let mut faults = Vec::new();
    for isa in Isa::ALL {
        let target = arch::Target::by_name(isa.processor()).unwrap();
        let mut with_cycles: BTreeSet<&str> =
            target.matrix_shapes().iter().map(|shape| shape.mnemonic.as_str()).collect();
        for info in Op::all().filter(|op| isa.has(*op)).map(Op::info) {
            let Some(matrix) = info.matrix else { continue };
            let shape = target.matrix_shape(info.name);
            let shape = shape.unwrap_or_else(|| panic!("{}: `{}` has no cycles", target.name, info.name));
            let in_tables = [matrix.m, matrix.n, matrix.k, matrix.blocks].map(u32::from);
            let here = [shape.m, shape.n, shape.k, shape.blocks];
            if here != in_tables {
                faults.push(format!("{} {}: {here:?} is {in_tables:?} in isa", target.name, info.name));
            }
            with_cycles.remove(info.name);
            checked += 1;
        }
        assert!(with_cycles.is_empty(), "{}: no such instructions: {with_cycles:?}", target.name);
    }
    assert!(faults.is_empty(), "{faults:#?}");
    assert!(checked > 100, "{checked}");
}

/// Every cost class of an instruction has cycles or a reason in every target, matrix instructions aside.
#[test]
fn cost_classes_have_cycles() {
    let in_tables: BTreeSet<String> = Op::all()
        .map(|op| op.info().cost)
        .filter(|cost| *cost != Cost::Mfma)
        .map(|cost| format!("{cost:?}"))
        .collect();
    for isa in Isa::ALL {
        let target = arch::Target::by_name(isa.processor()).unwrap();
        let classes: BTreeSet<String> = target.issue.classes().map(|(name, _)| name.to_owned()).collect();
        let without: Vec<_> = in_tables.difference(&classes).collect();
        assert!(without.is_empty(), "{}: {without:?}", target.name);
        for op in Op::all().filter(|op| isa.has(*op) && op.info().cost != Cost::Mfma) {
            let cost = format!("{:?}", op.info().cost);
            assert!(target.issue.cycles(&cost).is_some(), "{}: {} is {cost}", target.name, op.info().name);
        }
    }
}
