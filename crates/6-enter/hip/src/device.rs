//! The GPU that programs see.
//!
//! Everything a program may ask about the device follows from the model's facts; limits of the programming
//! interface are defined here.

use arch::{Model, Resources};
use emu::Program;

/// Most work-items of a workgroup.
pub(crate) const MOST_THREADS: u32 = 1024;
/// Version that programs hear: 7.1, the newest whose headers were looked at.
pub(crate) const VERSION: i32 = 70_100_000;

/// The device of this process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Device {
    pub(crate) model: &'static Model,
    /// It retries accesses that fault, so that kernels reach all memory of the program: `HSA_XNACK=1`.
    pub(crate) retries: bool,
}

impl Device {
    /// A GPU for a process with this value of `HSA_XNACK`.
    pub(crate) fn new(model: &'static Model, xnack: Option<&str>) -> Device {
        let asked = xnack.is_some_and(|it| it.trim().parse::<i64>().is_ok_and(|it| it != 0));
        Device { model, retries: asked && model.target().retries_page_faults.value }
    }

    /// Processor: the name of its target.
    pub(crate) fn processor(self) -> &'static str {
        self.model.target().name
    }

    /// Target as programs read it, with the features as the GPUs come.
    pub(crate) fn target_id(self) -> String {
        format!("{}:sramecc+:xnack{}", self.processor(), if self.retries { '+' } else { '-' })
    }

    /// Code target that fits the device.
    pub(crate) fn wanted(self) -> codeobj::Target {
        codeobj::Target {
            processor: self.processor().to_string(),
            sramecc: codeobj::Feature::On,
            xnack: if self.retries { codeobj::Feature::On } else { codeobj::Feature::Off },
        }
    }

    /// Bytes of device memory.
    pub(crate) fn memory_bytes(self) -> usize {
        (self.model.hbm.gib.value as usize) << 30
    }

    /// LDS of a compute unit.
    pub(crate) fn lds_bytes(self) -> u32 {
        self.model.target().lds.bytes_per_cu.value
    }

    /// Waves of a compute unit, as work-items.
    pub(crate) fn threads_per_cu(self) -> u32 {
        self.model.target().waves_per_cu() * self.model.target().lanes_per_wave.value
    }

    /// Major and minor number of the target: `gfx942` is 9 and 4.
    pub(crate) fn version(self) -> (i32, i32) {
        let digits: Vec<char> = self.processor().chars().skip_while(|it| it.is_alphabetic()).collect();
        let count = digits.len();
        let number = |range: &[char]| range.iter().collect::<String>().parse().unwrap_or(0);
        if count < 3 { (0, 0) } else { (number(&digits[..count - 2]), number(&digits[count - 2..count - 1])) }
    }

    /// Workgroups of a size that fit on a compute unit.
    pub(crate) fn workgroups_per_cu(self, program: &Program, threads: u32, dynamic_lds: usize) -> u32 {
        let target = self.model.target();
        let metadata = &program.metadata;
        let agprs = metadata.agprs.unwrap_or(0);
        let resources = Resources {
            vgprs: metadata.vgprs.unwrap_or(program.descriptor.vgprs_allocated).saturating_sub(agprs),
            agprs,
            sgprs: metadata.sgprs.unwrap_or(program.descriptor.sgprs_allocated),
            lds_bytes: program
                .descriptor
                .lds_bytes
                .saturating_add(u32::try_from(dynamic_lds).unwrap_or(u32::MAX)),
            waves_per_workgroup: threads.div_ceil(target.lanes_per_wave.value),
        };
        if resources.lds_bytes > target.lds.bytes_per_workgroup.value {
            return 0;
        }
        arch::workgroups_per_cu(target, &resources)
    }

    /// Workgroups of a size that fit on the GPU together.
    pub(crate) fn workgroups_at_once(self, program: &Program, threads: u32, dynamic_lds: usize) -> u64 {
        u64::from(self.workgroups_per_cu(program, threads, dynamic_lds))
            * u64::from(self.model.compute_units.value)
    }
}
