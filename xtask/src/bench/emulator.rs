//! Speed of the emulator, in wave instructions per second.
//!
//! The one idea to keep in mind: each kernel is one loop whose body is many times the same instruction, with all lanes
//! active, and instructions are counted while it runs.

use super::Line;
use anyhow::{Context, Result, bail};
use codeobj::CodeObject;
use emu::{Hidden, InstructionCounts, Launch, Memory, Program, arguments, run};
use std::process::Command;
use std::time::Instant;

/// Name, instruction repeated, million wave instructions per second asked of one core.
const BODIES: &[(&str, &str, Option<f64>)] = &[
    ("v_add_f32", "v_add_f32 v4, v5, v6", Some(60.0)),
    ("v_fma_f32", "v_fma_f32 v4, v5, v6, v7", Some(50.0)),
    ("v_fmac_f32 with a scalar", "v_fmac_f32 v4, s10, v6", None),
    ("v_fma_f64", "v_fma_f64 v[8:9], v[10:11], v[12:13], v[14:15]", None),
    ("v_pk_fma_f32", "v_pk_fma_f32 v[8:9], v[10:11], v[12:13], v[14:15]", None),
    ("v_cmp_lt_f32", "v_cmp_lt_f32 vcc, v5, v6", None),
    ("v_add_f32 with neg", "v_add_f32 v4, -v5, v6", None),
    ("v_add_f32 dpp", "v_add_f32_dpp v4, v5, v6 row_shr:1", None),
    ("v_exp_f32", "v_exp_f32 v4, v5", None),
    ("s_add_u32", "s_add_u32 s10, s11, s12", None),
    ("global_load_dword", "global_load_dword v4, v1, s[2:3]", None),
    ("global_load_dwordx4", "global_load_dwordx4 v[16:19], v2, s[2:3]", None),
    ("ds_read_b32", "ds_read_b32 v4, v1", None),
    ("v_mfma 16x16x16 f16", "v_mfma_f32_16x16x16_f16 v[16:19], v[8:9], v[10:11], v[16:19]", Some(3.66)),
    ("v_mfma 32x32x8 f16", "v_mfma_f32_32x32x8_f16 v[32:47], v[8:9], v[10:11], v[32:47]", None),
];

/// A kernel that repeats an instruction.
fn source(body: &str) -> String {
    let repeated = format!("{body}\n").repeat(100);
    let target = target();
    [
        &format!(".amdgcn_target \"amdgcn-amd-amdhsa--{target}\"\n.text\n.globl k\n.p2align 8\n"),
        ".type k,@function\nk:\ns_load_dwordx2 s[2:3], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n",
        "v_lshlrev_b32 v2, 4, v0\nv_cvt_f32_u32 v5, v0\nv_cvt_f32_u32 v6, v0\nv_cvt_f32_u32 v7, v0\ns_mov_b32 s4, 0\nL:\n",
        &repeated,
        "s_add_u32 s4, s4, 1\ns_cmp_lt_u32 s4, 200\ns_cbranch_scc1 L\ns_endpgm\n.size k, .-k\n",
        ".rodata\n.p2align 6\n.amdhsa_kernel k\n.amdhsa_user_sgpr_kernarg_segment_ptr 1\n",
        ".amdhsa_float_denorm_mode_32 3\n.amdhsa_next_free_vgpr 64\n.amdhsa_next_free_sgpr 16\n.amdhsa_accum_offset 64\n",
        ".amdhsa_group_segment_fixed_size 4096\n.end_amdhsa_kernel\n.amdgpu_metadata\n---\n",
        "amdhsa.kernels: [{.name: k, .symbol: k.kd, .kernarg_segment_size: 8, .kernarg_segment_align: 8, ",
        ".group_segment_fixed_size: 4096, .private_segment_fixed_size: 0, .wavefront_size: 64, .sgpr_count: 16, ",
        ".vgpr_count: 64, .max_flat_workgroup_size: 256}]\namdhsa.version: [1, 2]\n...\n.end_amdgpu_metadata\n",
    ]
    .concat()
}

/// The target of the benchmark's kernels.
fn target() -> &'static str {
    isa::Isa::Gfx942.processor()
}

fn assemble(body: &str) -> Result<Vec<u8>> {
    let folder = std::env::temp_dir().join(format!("rockhound-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let (text, output) = (folder.join("k.s"), folder.join("k.hsaco"));
    std::fs::write(&text, source(body))?;
    let mut clang = Command::new("clang-22");
    clang.args([
        "-target",
        "amdgcn-amd-amdhsa",
        &format!("-mcpu={}", target()),
        "-nogpulib",
        "-x",
        "assembler",
    ]);
    let result = clang.arg(&text).arg("-o").arg(&output).output().context("clang-22")?;
    if !result.status.success() {
        bail!("{}", String::from_utf8_lossy(&result.stderr));
    }
    let bytes = std::fs::read(&output)?;
    std::fs::remove_dir_all(&folder)?;
    Ok(bytes)
}

/// Million wave instructions per second on one core.
fn measure(body: &str) -> Result<f64> {
    let bytes = assemble(body)?;
    let object = CodeObject::read(&bytes)?;
    let program = Program::new(&bytes, &object, object.kernels.first().context("no kernel")?)?;
    let mut memory = Memory::new();
    let data = memory.allocate("data", 1 << 16);
    let mut launch = Launch { threads: 1, ..Launch::new([8, 1, 1], [64, 1, 1], 0) };
    launch.kernarg = memory
        .allocate_with("kernarg", &arguments(&program, &launch, &Hidden::default(), &data.to_le_bytes()));
    let mut best = 0.0f64;
    for _ in 0..3 {
        let mut counts = InstructionCounts::new(&program);
        let start = Instant::now();
        let summary =
            run(&program, &memory, &launch, || InstructionCounts::new(&program), |part| counts.merge(&part))?;
        best = best.max(summary.instructions as f64 / start.elapsed().as_secs_f64() / 1e6);
    }
    Ok(best)
}

pub(super) fn speed() -> Result<Vec<Line>> {
    let mut lines = Vec::new();
    for (name, body, asked) in BODIES {
        let speed = measure(body)?;
        lines.push(Line {
            what: (*name).to_string(),
            value: format!("{speed:.1} million wave instructions/s, one core"),
            asked: asked.map(|asked| (format!("at least {asked}"), speed >= asked)),
        });
    }
    Ok(lines)
}
