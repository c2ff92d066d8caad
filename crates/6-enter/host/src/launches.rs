//! Parts of a launch that the HIP library and launch files share: packets of host calls, texts of faults.

use emu::{Fault, Hostcall, Launch, LostAccesses, Program};

/// Bytes of the structure through which workgroups of a grid wait for each other, and where the number of
/// workgroups is.
const GRID_BYTES: usize = 64;
const GRID_WORKGROUPS: usize = 40;

/// The structure through which the workgroups of a cooperative launch wait for each other, if the kernel reads one.
pub fn grid_barrier(program: &Program, launch: &Launch<'_>) -> Option<[u8; GRID_BYTES]> {
    let reads = || program.metadata.arguments.iter().any(|it| it.kind == "hidden_multigrid_sync_arg");
    (launch.cooperative && reads()).then(|| {
        let mut words = [0; GRID_BYTES];
        let workgroups = u32::try_from(launch.workgroup_count()).unwrap_or(u32::MAX);
        words[GRID_WORKGROUPS..GRID_WORKGROUPS + 4].copy_from_slice(&workgroups.to_le_bytes());
        words
    })
}

/// Packets of host calls that a launch needs. The waves of a workgroup may call at the same time; of a
/// cooperative launch all waves.
pub fn packets(launch: &Launch<'_>) -> u32 {
    let waves = match launch.cooperative {
        true => u32::try_from(launch.wave_count()).unwrap_or(u32::MAX),
        false => launch.workgroup.iter().product::<u32>().div_ceil(64),
    };
    Hostcall::packets(waves)
}

/// Message for a stopped kernel, which `triage` reads. `source` is a line of text or empty; `otherwise` is the
/// hint for a cause without one.
pub fn stopped(fault: &Fault, source: &str, otherwise: Option<&str>) -> String {
    let hint = fault.cause.hint().or(otherwise).map_or_else(String::new, |hint| format!("\nhint: {hint}"));
    format!("kernel stopped: {fault}{source}{hint}")
}

/// Message for a kernel whose accesses are dropped. `source` is a line of text or empty.
pub fn lost(kernel: &str, program: &Program, lost: &LostAccesses, source: &str) -> String {
    format!("`{kernel}`: {}{source}", lost.text(program))
}
