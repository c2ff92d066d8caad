//! Occupancy and register counts against the `; Occupancy:` comment of LLVM's assembly output.
//!
//! LLVM's number is the smallest of
//! * waves per SIMD that the registers admit, by file size and granule, which is ours too;
//! * waves of all resident workgroups divided by the SIMDs and rounded up. Ours is not rounded: five waves on
//!   four SIMDs are 1.25 per SIMD, and LLVM prints 2.
//!
//! So LLVM does not ask whether a whole workgroup fits into the registers that remain. Two more differences
//! are specific to LLVM: LDS is not rounded up to the granule, and for scalar registers it has a table whose
//! steps (88 for nine waves, 100 for eight) are not multiples of the granule.
//!
//! The test rebuilds LLVM's number from the crate's limits for every combination, and where none of the
//! differences plays a part it compares the occupancy itself.

use rockhound_arch::{Limit, Limiter, Occupancy, Resources, Target, occupancy, vgprs_allocated};
use std::fmt::Write as _;
use std::process::{Command, Stdio};

/// VGPRs, AGPRs, SGPRs, LDS bytes, waves per workgroup.
type Case = (u32, u32, u32, u32, u32);

fn cases(lds_bytes: u32) -> Vec<Case> {
    let mut cases = Vec::new();
    for vgprs in [8, 24, 25, 28, 32, 36, 40, 41, 48, 56, 64, 65, 72, 80, 84, 96, 100, 128, 129, 168, 170, 256]
    {
        for waves in [1, 2, 3, 4, 5, 8, 16] {
            // A workgroup has to fit: the compiler refuses what never could run.
            if vgprs <= 128 || waves <= 4 {
                cases.push((vgprs, 0, 16, 0, waves));
            }
        }
    }
    for (vgprs, agprs) in [(100, 37), (33, 31), (128, 128), (61, 3), (62, 3), (64, 64), (1, 128), (200, 56)] {
        cases.push((vgprs, agprs, 16, 0, 1));
        cases.push((vgprs, agprs, 16, 0, 4));
    }
    for sgprs in [72, 78, 80, 84, 88, 90, 92, 96, 98, 102] {
        cases.push((8, 0, sgprs, 0, 1));
        cases.push((8, 0, sgprs, 0, 4));
    }
    for lds in
        [512, 1280, 2560, 3000, 4096, 5120, 8192, 10240, 12800, 16384, 20480, 20496, 32768, 40000, 65536]
            .into_iter()
            .chain([81920, 100_000, 163_840])
    {
        for waves in [1, 2, 3, 4, 8, 16] {
            if lds <= lds_bytes {
                cases.push((8, 0, 16, lds, waves));
            }
        }
    }
    cases
}

/// One kernel per case that names its last registers and touches its LDS.
fn module(cases: &[Case]) -> String {
    let mut text = String::new();
    for (index, &(vgprs, agprs, sgprs, lds, waves)) in cases.iter().enumerate() {
        let mut clobbers = format!("~{{v{}}},~{{s{}}}", vgprs - 1, sgprs - 1);
        if agprs > 0 {
            write!(clobbers, ",~{{a{}}}", agprs - 1).unwrap();
        }
        if lds > 0 {
            writeln!(text, "@l{index} = internal addrspace(3) global [{lds} x i8] poison, align 16").unwrap();
        }
        writeln!(text, "define amdgpu_kernel void @k{index}() #{index} {{").unwrap();
        if lds > 0 {
            writeln!(text, "  store volatile i8 0, ptr addrspace(3) @l{index}").unwrap();
        }
        writeln!(text, "  call void asm sideeffect \"\", \"{clobbers}\"()\n  ret void\n}}").unwrap();
        let size = waves * 64;
        writeln!(text, "attributes #{index} = {{ \"amdgpu-flat-work-group-size\"=\"{size},{size}\" }}")
            .unwrap();
    }
    text
}

/// LLVM's remarks on one kernel.
#[derive(Default, Debug)]
struct Said {
    vgprs: u32,
    agprs: u32,
    sgprs: u32,
    lds_bytes: u32,
    total_vgprs: u32,
    /// Steps of 8 scalar registers in the kernel descriptor, less one.
    sgpr_blocks: u32,
    occupancy: u32,
}

fn read(assembly: &str) -> Vec<Said> {
    let mut kernels = Vec::new();
    let mut said = Said::default();
    for line in assembly.lines() {
        let Some((key, value)) = line.strip_prefix("; ").and_then(|line| line.split_once(": ")) else {
            continue;
        };
        let Some(number) = value.split(' ').next().and_then(|word| word.parse().ok()) else { continue };
        match key {
            "NumVgprs" => said.vgprs = number,
            "NumAgprs" => said.agprs = number,
            "NumSgprs" | "TotalNumSgprs" => said.sgprs = number,
            "TotalNumVgprs" => said.total_vgprs = number,
            "SGPRBlocks" => said.sgpr_blocks = number,
            "LDSByteSize" => said.lds_bytes = number,
            "Occupancy" => {
                said.occupancy = number;
                kernels.push(std::mem::take(&mut said));
            }
            _ => {}
        }
    }
    kernels
}

fn clang(tool: &str, target: &str, module: &str) -> Option<String> {
    use std::io::Write as _;
    if !testkit::needs(&[tool]) {
        return None;
    }
    let mut child = Command::new(tool)
        .args(["-target", "amdgcn-amd-amdhsa", "-nogpulib", "-O1", "-S", "-x", "ir", "-", "-o", "-"])
        .arg(format!("-mcpu={target}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(module.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{tool} {target}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

fn limit(found: &Occupancy, resource: Limiter) -> Option<&Limit> {
    found.limits.iter().find(|limit| limit.resource == resource)
}

/// LLVM's steps for scalar registers where they differ from whole granules.
fn llvm_sgpr_waves(sgprs: u32, ours: u32) -> u32 {
    match sgprs {
        81..=88 => 9,
        89..=100 => 8,
        _ => ours,
    }
}

/// LLVM's number from the crate's limits; see the module comment.
fn llvm_number(target: &Target, asked: &Resources, found: &Occupancy) -> u32 {
    let slots = target.waves_per_simd.value;
    let by_registers = [Limiter::Vgpr, Limiter::Agpr, Limiter::Sgpr]
        .into_iter()
        .filter_map(|resource| limit(found, resource))
        .map(|limit| {
            let waves = limit.capacity.checked_div(limit.allocated).unwrap_or(slots);
            if limit.resource == Limiter::Sgpr { llvm_sgpr_waves(asked.sgprs, waves) } else { waves }
        })
        .min()
        .unwrap();
    let lds = limit(found, Limiter::Lds).unwrap();
    let workgroups = [Limiter::BarrierSlots, Limiter::WaveSlots]
        .into_iter()
        .filter_map(|resource| limit(found, resource))
        .map(|limit| limit.workgroups)
        .chain([lds.capacity.checked_div(lds.used).unwrap_or(u32::MAX)])
        .min()
        .unwrap();
    let by_workgroups = (workgroups * asked.waves_per_workgroup).div_ceil(target.simds_per_cu.value);
    by_registers.min(by_workgroups).min(slots).max(1)
}

/// None of the differences plays a part.
fn comparable(target: &Target, asked: &Resources) -> bool {
    matches!(asked.waves_per_workgroup, 1 | 2 | 4)
        && !matches!(asked.sgprs, 81..=100)
        && asked.lds_bytes.is_multiple_of(target.lds.granule.value)
}

#[test]
fn occupancy_equals_llvms() {
    let mut compared = 0;
    let mut compared_directly = 0;
    let mut ran = 0;
    let mut most_sgprs = 0;
    for (tool, targets) in [
        ("clang-19", &["gfx908", "gfx90a", "gfx942"][..]),
        ("clang-22", &["gfx908", "gfx90a", "gfx942", "gfx950"][..]),
    ] {
        for name in targets {
            let target = Target::by_name(name).unwrap();
            let cases = cases(target.lds.bytes_per_workgroup.value);
            let Some(assembly) = clang(tool, name, &module(&cases)) else { break };
            let said = read(&assembly);
            assert_eq!(said.len(), cases.len(), "{tool} {name}");
            ran += 1;
            for (case, said) in cases.iter().zip(&said) {
                let asked = Resources {
                    vgprs: said.vgprs,
                    agprs: said.agprs,
                    sgprs: said.sgprs,
                    lds_bytes: said.lds_bytes,
                    waves_per_workgroup: case.4,
                };
                let found = occupancy(target, &asked);
                let context = format!("{tool} {name} {case:?} {said:?}");
                assert_eq!(llvm_number(target, &asked, &found), said.occupancy, "{context}");
                // LLVM's total is not rounded to the granule yet.
                if target.registers.unified.value {
                    let allocated = vgprs_allocated(target, said.vgprs, said.agprs);
                    let granule = target.registers.vgpr_granule.value;
                    assert_eq!(allocated, said.total_vgprs.next_multiple_of(granule), "{context}");
                }
                // The count the descriptor holds, up to 112, is as good as the count of the registers used.
                let rounded = Resources { sgprs: (said.sgpr_blocks + 1) * 8, ..asked };
                let by_descriptor = occupancy(target, &rounded);
                assert_eq!(by_descriptor.waves_per_cu, found.waves_per_cu, "{context} {rounded:?}");
                most_sgprs = most_sgprs.max(rounded.sgprs);
                compared += 1;
                if comparable(target, &asked) {
                    let rounded = found.waves_per_cu.div_ceil(target.simds_per_cu.value);
                    assert_eq!(rounded, said.occupancy, "{context} {found:?}");
                    compared_directly += 1;
                }
            }
        }
    }
    println!("{compared} combinations in {ran} runs, {compared_directly} of them compared directly");
    if ran > 0 {
        assert!(compared_directly >= 200, "{compared_directly} of {compared}");
        assert_eq!(most_sgprs, 112);
    }
}
