//! Words to text, words to registers read and written, and the tables as data.
//!
//! The golden lines come from LLVM's disassembler; the effects are written by hand from the manual.

use std::fmt::Write as _;
use std::path::Path;

use rockhound_isa::{Access, Class, Encoding, Inst, Isa, Op, RegRange, Role, Space, decode, decode_all};

fn bytes(words: &str) -> Vec<u8> {
    words.split_whitespace().flat_map(|word| u32::from_str_radix(word, 16).unwrap().to_le_bytes()).collect()
}

fn one(isa: Isa, words: &str) -> Inst {
    let code = bytes(words);
    let inst = decode(isa, &code, 0);
    assert_eq!(usize::from(inst.size), code.len(), "{words}: {}", inst.text(isa));
    inst
}

#[test]
fn text_of_every_encoding() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lines/decode.txt");
    let golden = std::fs::read_to_string(&path).unwrap();
    let mut found = String::new();
    for line in golden.lines() {
        if line.starts_with('#') {
            writeln!(found, "{line}").unwrap();
            continue;
        }
        let columns: Vec<&str> = line.splitn(3, " | ").collect();
        let texts: Vec<String> = columns[0]
            .split(' ')
            .map(|target| {
                one(Isa::for_processor(target).unwrap(), columns[1]).text(Isa::for_processor(target).unwrap())
            })
            .collect();
        assert!(texts.iter().all(|text| *text == texts[0]), "{line}: {texts:?}");
        writeln!(found, "{} | {} | {}", columns[0], columns[1], texts[0]).unwrap();
    }
    testkit::golden_file(path, &found);
}

fn names(visit: impl Fn(&mut dyn FnMut(RegRange))) -> String {
    let mut list = Vec::new();
    visit(&mut |range| list.push(range.to_string()));
    list.sort();
    list.join(" ")
}

#[test]
fn registers_read_and_written() {
    use Isa::*;
    for (isa, words, reads, writes) in [
        // s_add_u32 s6, s16, s12
        (Gfx942, "80060c10", "s12 s16", "s6 src_scc"),
        // s_addc_u32
        (Gfx942, "82060c10", "s12 s16 src_scc", "s6 src_scc"),
        // s_cselect_b64 s[6:7], s[16:17], s[12:13]
        (Gfx942, "85860c10", "s[12:13] s[16:17] src_scc", "s[6:7]"),
        // s_addk_i32 s6, 1 reads its destination
        (Gfx942, "b7060001", "s6", "s6 src_scc"),
        // s_and_saveexec_b64 s[6:7], s[16:17]
        (Gfx942, "be862010", "exec s[16:17]", "exec s[6:7] src_scc"),
        // s_cbranch_scc1, s_cbranch_vccz, s_cbranch_execz
        (Gfx942, "bf850003", "src_scc", ""),
        (Gfx942, "bf860003", "vcc", ""),
        (Gfx942, "bf880003", "exec", ""),
        // s_load_dwordx4 s[4:7], s[0:1], 0x40
        (Gfx942, "c00a0100 00000040", "s[0:1]", "s[4:7]"),
        // v_add_f32_e32 v2, v6, v4
        (Gfx942, "02040906", "exec mode v4 v6", "v2"),
        // v_fmac_f32_e32 v2, v6, v4 reads its destination
        (Gfx942, "76040906", "exec mode v2 v4 v6", "v2"),
        // v_add_co_u32_e32 and v_addc_co_u32_e32 with vcc
        (Gfx942, "32040902", "exec v2 v4", "v2 vcc"),
        (Gfx942, "38040902", "exec v2 v4 vcc", "v2 vcc"),
        // v_cmp_gt_f32_e32, v_cmpx_gt_f32_e32
        (Gfx942, "7c880906", "exec mode v4 v6", "vcc"),
        (Gfx942, "7ca80906", "exec mode v4 v6", "exec vcc"),
        // v_readfirstlane_b32 s2, v4
        (Gfx942, "7e040504", "exec v4", "s2"),
        // v_readlane_b32 s2, v4, s12 is not masked by exec
        (Gfx942, "d2890002 00001904", "s12 v4", "s2"),
        // v_writelane_b32 v2, s4, s12 keeps the other lanes
        (Gfx942, "d28a0002 00001804", "s12 s4 v2", "v2"),
        // v_div_fmas_f32 reads vcc
        (Gfx942, "d1e20002 04220d04", "exec mode v4 v6 v8 vcc", "v2"),
        // v_mfma_f32_16x16x16_f16 a[0:3], a[4:5], a[6:7], a[16:19] is not masked by exec
        (Gfx942, "d3cd8000 1c420d04", "a[16:19] a[4:5] a[6:7] mode", "a[0:3]"),
        // v_accvgpr_write_b32 a2, v4
        (Gfx942, "d3d94002 00000104", "exec v4", "a2"),
        // fp6 and fp4 matrices take fewer registers
        (Gfx950, "d3ad0300 84521904", "mode v[12:15] v[20:23] v[4:9]", "v[0:3]"),
        // ds_read_b128 v[8:11], v2; ds_read_u16_d16_hi keeps the low half
        (Gfx942, "d9fe0010 08000002", "exec v2", "v[8:11]"),
        (Gfx942, "d8b60010 08000002", "exec v2 v8", "v8"),
        // global_atomic_add without and with return, cmpswap returns half of what it reads
        (Gfx942, "dd088000 007f0402", "exec v4 v[2:3]", ""),
        (Gfx942, "dd098000 087f0402", "exec v4 v[2:3]", "v8"),
        (Gfx942, "dd058000 087f0402", "exec v[2:3] v[4:5]", "v8"),
        // buffer_atomic_cmpswap v[6:7], off, s[8:11], 0 sc0 gives the old value in place
        (Gfx942, "e1044000 80020600", "exec s[8:11] v[6:7]", "v6"),
        (Gfx942, "e1040000 80020600", "exec s[8:11] v[6:7]", ""),
        // buffer_load_dword to LDS writes no register and reads m0
        (Gfx942, "e0511005 80020604", "exec m0 s[8:11] v4", ""),
        (Gfx942, "e0501005 80020604", "exec s[8:11] v4", "v6"),
        // global_load_dword and scratch_load_dword with the lds bit do the same; what stands in their vdst
        // means nothing
        (Gfx90a, "dc50a010 057f0002", "exec m0 v[2:3]", ""),
        (Gfx90a, "dc50a010 05020002", "exec m0 s[2:3] v2", ""),
        (Gfx90a, "dc506008 05040004", "exec flat_scratch m0 s4", ""),
        // SDWA that preserves the rest of its destination, and one that pads it
        (Gfx942, "020408f9 06061402", "exec mode v2 v2 v4", "v2"),
        (Gfx942, "020408f9 06060602", "exec mode v2 v4", "v2"),
        // DPP: lanes without a source keep the old value unless bound_ctrl is set
        (Gfx942, "020408fa ff00b106", "exec mode v2 v4 v6", "v2"),
        (Gfx942, "020408fa ff08b106", "exec mode v4 v6", "v2"),
        // s_setreg_b32 writes MODE
        (Gfx942, "b9060841", "s6", "mode"),
    ] {
        let inst = one(isa, words);
        let text = inst.text(isa);
        assert_eq!(names(|visit| inst.visit_reads(visit)), reads, "reads of {text}");
        assert_eq!(names(|visit| inst.visit_writes(visit)), writes, "writes of {text}");
    }
}

#[test]
fn memory_accesses() {
    for (words, space, access, bytes, elements, returns) in [
        ("c00a0100 00000040", Space::Scalar, Access::Load, 16, 1, true),
        ("d86eff01 02000001", Space::Lds, Access::Load, 4, 2, true),
        ("d9fe0010 08000002", Space::Lds, Access::Load, 16, 1, true),
        ("d87e0000 08000402", Space::Lds, Access::Exchange, 4, 1, true),
        ("d8400010 08000402", Space::Lds, Access::Atomic, 4, 1, true),
        ("dc508010 08040002", Space::Global, Access::Load, 4, 1, true),
        ("dc700ff0 00000402", Space::Flat, Access::Store, 4, 1, false),
        ("dd098000 087f0402", Space::Global, Access::Atomic, 4, 1, true),
        ("dd088000 007f0402", Space::Global, Access::Atomic, 4, 1, false),
        ("dca88000 007f0002", Space::Global, Access::LoadToLds, 4, 1, false),
        ("e0515005 80020604", Space::Buffer, Access::LoadToLds, 4, 1, false),
        ("dc50a000 007f0002", Space::Global, Access::LoadToLds, 4, 1, false),
        ("e05c3000 09820604", Space::Buffer, Access::Load, 16, 1, true),
        ("dc504008 08060002", Space::Scratch, Access::Load, 4, 1, true),
    ] {
        // The lds bit of flat encodings is another one from gfx940 on.
        let isa = if words.starts_with("dc50a") { Isa::Gfx90a } else { Isa::Gfx942 };
        let inst = one(isa, words);
        let text = inst.text(isa);
        let mem = inst.mem().unwrap();
        assert_eq!(
            (mem.space, mem.access, mem.bytes, mem.elements),
            (space, access, bytes, elements),
            "{text}"
        );
        assert_eq!(inst.returns_value(), returns, "{text}");
    }
}

#[test]
fn undecodable_bytes_are_kept_and_the_stream_goes_on() {
    // An invalid word, a no-operation, a literal that is cut off, three bytes.
    let mut code = bytes("ffffffff bf800000 8006ff10");
    code.extend([1, 2, 3]);
    let list = decode_all(Isa::Gfx90a, &code);
    let texts: Vec<String> = list.iter().map(|inst| inst.text(Isa::Gfx90a)).collect();
    assert_eq!(texts, [".long 0xffffffff", "s_nop 0", ".long 0x8006ff10", ".byte 0x01, 0x02, 0x03"]);
    let sizes: Vec<u8> = list.iter().map(|inst| inst.size).collect();
    assert_eq!(sizes, [4, 4, 4, 3]);
    assert_eq!(list[0].class(), Class::Unknown);
    assert_eq!(decode(Isa::Gfx90a, &code, 15).size, 0);
    assert_eq!(decode(Isa::Gfx90a, &code, u32::MAX).size, 0);
    assert!(decode_all(Isa::Gfx90a, &[]).is_empty());
}

#[test]
fn names_of_processors() {
    assert_eq!(Isa::for_processor("gfx90a:sramecc+:xnack-"), Some(Isa::Gfx90a));
    assert_eq!(Isa::for_processor("gfx940"), Some(Isa::Gfx942));
    assert_eq!(Isa::for_processor("gfx1100"), None);
    for isa in Isa::ALL {
        assert_eq!(Isa::for_processor(isa.processor()), Some(isa));
    }
}

#[test]
fn rows_are_sound() {
    for op in Op::all() {
        let info = op.info();
        let name = info.name;
        assert_eq!(Op::by_name(name), Some(op), "{name}");
        assert_eq!(info.operands.len(), info.fields.len(), "{name}");
        assert!(info.operands.len() <= 6, "{name}");
        assert!(Isa::ALL.into_iter().any(|isa| isa.has(op)), "{name} exists nowhere");
        assert_ne!(info.class, Class::Unknown, "{name}");
        assert_eq!(info.matrix.is_some(), info.class == Class::Mfma, "{name}");
        let vector_memory = matches!(info.class, Class::VmemLoad | Class::VmemStore | Class::VmemAtomic);
        assert!(!vector_memory || info.mem.is_some(), "{name} touches no memory");
        if let Some(mem) = info.mem {
            assert!(
                matches!(mem.bytes, 1 | 2 | 4 | 6 | 8 | 12 | 16 | 32 | 64),
                "{name}: {} bytes",
                mem.bytes
            );
        }
        // A load's destination is as wide as what it loads.
        if let Some(mem) = info.mem
            && mem.access == Access::Load
            && let Some(spec) =
                info.operands.iter().find(|spec| matches!(spec.role, Role::Dst | Role::DstSrc))
        {
            let bytes = u32::from(mem.bytes) * u32::from(mem.elements);
            assert_eq!(u32::from(spec.dwords), bytes.div_ceil(4), "{name}");
        }
        // A matrix instruction's accumulator holds M x N x blocks values over 64 lanes.
        if let Some(matrix) = info.matrix {
            let values = u32::from(matrix.m) * u32::from(matrix.n) * u32::from(matrix.blocks);
            let dwords = values / 64 * if matrix.acc == rockhound_isa::MatrixType::F64 { 2 } else { 1 };
            assert_eq!(u32::from(info.operands[0].dwords), dwords, "{name}");
        }
    }
    assert_eq!(Op::by_name("v_no_such"), None);
    assert!(Isa::Gfx950.has(Op::by_name("v_prng_b32").unwrap()));
    assert!(!Isa::Gfx942.has(Op::by_name("v_prng_b32").unwrap()));
    assert!(Isa::Gfx942.has_encoding(Op::by_name("v_add_f32").unwrap(), Encoding::Vop2Sdwa));
    assert!(!Isa::Gfx942.has_encoding(Op::by_name("v_add_f64").unwrap(), Encoding::Vop2));
}

#[test]
fn random_words_never_panic_and_sizes_add_up() {
    let mut state = 0x1234_5678_9abc_def0u64;
    let mut code = Vec::new();
    for _ in 0..60_000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        code.extend(((state >> 32) as u32).to_le_bytes());
    }
    code.push(7);
    for isa in Isa::ALL {
        let (mut at, mut known) = (0, 0);
        let mut text = String::new();
        for inst in decode_all(isa, &code) {
            assert_eq!(inst.offset, at);
            at = inst.end();
            known += u32::from(!inst.is_unknown());
            inst.write_text(isa, &mut text);
            inst.visit_reads(|range| assert!(range.count > 0 && range.indices().end <= 256));
            inst.visit_writes(|range| assert!(range.count > 0 && range.indices().end <= 256));
        }
        assert_eq!(at as usize, code.len());
        assert!(known > 10_000, "{known} instructions of {isa:?}");
        text.clear();
    }
}
