//! Processor names behind the ELF machine flag.
//!
//! The low byte of `e_flags` of an AMD code object names the processor, for all AMD GPUs and not only those
//! with facts here.

use crate::table::Rows;

/// `EF_AMDGPU_MACH` values with their processors.
fn machines() -> impl Iterator<Item = (u8, &'static str)> {
    let rows = Rows::of(include_str!("../data/elf-machines.tsv"));
    rows.filter_map(|row| Some((u8::from_str_radix(row.text("machine"), 16).ok()?, row.text("processor"))))
}

/// Processor of an `EF_AMDGPU_MACH` value (the low byte of `e_flags`).
pub fn elf_processor(machine: u8) -> Option<&'static str> {
    machines().find(|(value, _)| *value == machine).map(|(_, name)| name)
}

/// `EF_AMDGPU_MACH` value of a processor.
pub fn elf_machine(processor: &str) -> Option<u8> {
    machines().find(|(_, name)| *name == processor).map(|(value, _)| value)
}
