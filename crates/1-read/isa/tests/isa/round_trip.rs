//! Decoded instructions, printed and read again: random words, and real code objects if available.

use rockhound_isa::text::{ParsedLine, Statement, parse_body, parse_line};
use rockhound_isa::{Bits, Encoding, Inst, Isa, Operand, Ty, decode, decode_all};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// True if the text of an instruction omits details, so that reading it gives another value with the same
/// text.
fn text_says_less(decoded: &Inst, read: &Inst) -> bool {
    let name = decoded.op.info().name;
    let literals = decoded.operands_with_specs().any(|(operand, spec)| {
        // Only 16 bits of the literal count, and small ones read as inline constants.
        matches!(operand, Operand::Literal(_))
            && matches!(
                spec.ty,
                Ty::F16 | Ty::Bf16 | Ty::U16 | Ty::I16 | Ty::B16 | Ty::PkF16 | Ty::PkI16 | Ty::PkU16
            )
    });
    literals
        // An inline real number of a 16-bit integer operand prints as its bits, which reads as a literal.
        || decoded.operands().iter().any(|operand| matches!(operand, Operand::Float(_)))
        // Some bits of the immediate mean nothing; a lane bit that is always 1 has several masks.
        || matches!(name, "s_waitcnt" | "s_sendmsg" | "s_sendmsghalt" | "ds_swizzle_b32")
        // It has no address, so its address bits mean nothing.
        || name == "buffer_store_lds_dword"
        // The long form of an instruction without operands prints no suffix.
        || decoded.encoding == Encoding::Vop3 && decoded.operand_count == 0
        // The bit stays set where the target has no GDS and prints no `gds`.
        || decoded.encoding == Encoding::Ds && decoded.mods.bits == read.mods.bits | Bits::GDS
}

/// Text that no assembler takes.
fn is_unreadable(inst: &Inst, text: &str) -> bool {
    // A comment in place of an invalid field; a constant where a matrix instruction has only registers.
    let constants = |operand: &Operand| !matches!(operand, Operand::Reg(_));
    let matrix = inst.op.info().matrix.is_some();
    text.contains("/*") || matrix && inst.operands()[1..3].iter().any(constants)
}

/// First words of each encoding: value and mask of the bits that choose it.
const ENCODINGS: [(u32, u32); 17] = [
    (0x0000_0000, 0x8000_0000),
    (0x7c00_0000, 0xfe00_0000),
    (0x7e00_0000, 0xfe00_0000),
    (0x8000_0000, 0xc000_0000),
    (0xb000_0000, 0xf000_0000),
    (0xbe80_0000, 0xff80_0000),
    (0xbf00_0000, 0xff80_0000),
    (0xbf80_0000, 0xff80_0000),
    (0xc000_0000, 0xfc00_0000),
    (0xd000_0000, 0xfc00_0000),
    (0xd000_0000, 0xfe00_0000),
    (0xd380_0000, 0xff80_0000),
    (0xd380_0000, 0xffc0_0000),
    (0xd800_0000, 0xfc00_0000),
    (0xdc00_0000, 0xfc00_0000),
    (0xe000_0000, 0xfc00_0000),
    (0xe800_0000, 0xfc00_0000),
];

/// Numbers that look random and are the same in every run (xorshift*).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// Sixteen bytes that begin like some encoding.
    fn code(&mut self) -> [u8; 16] {
        let mut words = [(); 4].map(|()| self.next() as u32);
        let (value, mask) = ENCODINGS[self.next() as usize % ENCODINGS.len()];
        words[0] = words[0] & !mask | value;
        match self.next() % 8 {
            // SDWA, DPP, literal
            kind @ 0..3 if words[0] >> 31 == 0 => {
                words[0] = words[0] & !0x1ff | (249 + kind as u32 % 3 + kind as u32 / 2 * 4)
            }
            // no modifiers
            3..6 if words[0] >> 28 >= 0xd => {
                words[0] &= !0xff00;
                words[1] &= 0x07ff_ffff;
            }
            // vector sources
            6 => words[1] |= 0x0402_0100,
            7 => words[1] &= !(self.next() as u32),
            _ => {}
        }
        if self.next().is_multiple_of(64) {
            // A scaled matrix instruction.
            words[0] = 0xd3ac_0000 | words[0] & 0xffff;
            words[1] |= 0x0002_0100;
            words[2] = 0xd3ad_0000 | words[2] & 0x0001_00ff;
            words[3] |= 0x0402_0100;
        }
        let mut bytes = [0; 16];
        for (chunk, word) in bytes.chunks_exact_mut(4).zip(words) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }
}

#[test]
fn random_words_come_back_from_their_text() {
    for isa in Isa::ALL {
        let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
        let mut wrong: BTreeMap<String, String> = BTreeMap::new();
        let (mut kinds, mut decoded) = (std::collections::BTreeSet::new(), 0);
        for _ in 0..400_000 {
            let inst = decode(isa, &numbers.code(), 0);
            let text = inst.text(isa);
            if inst.is_unknown() || is_unreadable(&inst, &text) {
                continue;
            }
            decoded += 1;
            kinds.insert((inst.op, inst.encoding));
            let problem = match parse_line(isa, &text) {
                Ok(ParsedLine { statement: Statement::Inst(read), label: None }) => {
                    if read.inst == inst || text_says_less(&inst, &read.inst) {
                        continue;
                    }
                    format!("`{text}`\n  code {inst:?}\n  text {:?}", read.inst)
                }
                other => format!("`{text}`: {other:?}"),
            };
            wrong.entry(format!("{} {:?}", inst.op.info().name, inst.encoding)).or_insert(problem);
        }
        let shown: Vec<_> = wrong.values().take(5).cloned().collect();
        assert!(
            wrong.is_empty(),
            "{isa:?}: {} kinds of instructions differ:\n{}",
            wrong.len(),
            shown.join("\n")
        );
        assert!(decoded > 100_000 && kinds.len() > 1_200, "{decoded} instructions of {} kinds", kinds.len());
    }
}

/// Every function of the code objects below the folders that `ROCKHOUND_CODE_OBJECTS` names (separated by
/// `:`).
#[test]
fn real_code_comes_back_from_its_text() {
    let Ok(folders) = std::env::var("ROCKHOUND_CODE_OBJECTS") else {
        let how = "folders of bare code objects, which clang-offload-bundler unpacks";
        testkit::not_asked_for("ROCKHOUND_CODE_OBJECTS=FOLDER:…", how);
        return;
    };
    let mut files: Vec<PathBuf> = Vec::new();
    let mut open: Vec<PathBuf> = folders.split(':').map(PathBuf::from).collect();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    let mut total = 0;
    for path in &files {
        total += round_trip_file(path);
    }
    eprintln!("{total} instructions of {} files", files.len());
    assert!(total > 0);
}

fn round_trip_file(path: &Path) -> usize {
    let bytes = std::fs::read(path).expect("a readable file");
    let Ok(object) = codeobj::CodeObject::read(&bytes) else { return 0 };
    let Some(isa) = Isa::for_processor(&object.target.processor) else { return 0 };
    let mut total = 0;
    for kernel in &object.kernels {
        let codeobj::Body::Code { bytes: range, .. } = &kernel.body else { continue };
        let insts = decode_all(isa, &bytes[range.clone()]);
        let mut text = String::new();
        for inst in &insts {
            inst.write_text(isa, &mut text);
            text.push('\n');
        }
        let body = parse_body(isa, text.lines());
        assert_eq!(body.errors, [], "{} in {}", kernel.name, path.display());
        for (read, inst) in body.insts.iter().zip(&insts) {
            assert_eq!(read, inst, "{} in {}", kernel.name, path.display());
        }
        assert_eq!(body.insts.len(), insts.len());
        total += insts.len();
    }
    total
}
