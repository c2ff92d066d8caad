//! The decoder against LLVM: code objects from files, or random encodings of every opcode.
//!
//! The disassembler's own output is the input. Each of its lines names address and words, so the bytes to
//! decode come from it, and every line must have the same address, size and text here.

mod random;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use isa::{Inst, Isa, decode};

/// The disassembler compared with.
const OBJDUMP: &str = "llvm-objdump-22";

/// A difference that is LLVM's own.
struct Fault {
    /// True if LLVM's text shows it.
    shows: fn(&str) -> bool,
    /// Replacement here.
    here: Instead,
    #[allow(dead_code, reason = "the reason is for the reader of the table")]
    reason: &'static str,
}

enum Instead {
    /// The same text without the remark.
    SameWithoutRemark,
    /// An undecodable word.
    Undecodable,
    /// An instruction with the same mnemonic.
    SameMnemonic,
    /// The same text without an offset of 0.
    SameWithoutOffset,
}

/// Differences that are LLVM's own, each with the reason. None occurs in code that a compiler makes.
const LLVM_FAULTS: &[Fault] = &[
    Fault {
        shows: |text| text.contains("/*"),
        here: Instead::SameWithoutRemark,
        reason: "LLVM prints a remark inside the text where an operand breaks a rule of the assembler (alignment, \
                 register class) though it decodes; the text without the remark is compared",
    },
    Fault {
        shows: |text| text.contains("/*Invalid"),
        here: Instead::Undecodable,
        reason: "LLVM decodes a field that cannot hold what it finds there, such as a constant as the destination",
    },
    Fault {
        shows: |text| names(text).any(|name| name == "null" || name.starts_with("src_flat_scratch_base")),
        here: Instead::Undecodable,
        reason: "source codes 125, 230 and 231 are reserved on these targets; LLVM prints registers of later ones",
    },
    Fault {
        shows: |text| text.split([' ', ',']).nth(1).is_some_and(|operand| operand.starts_with("src_")),
        here: Instead::Undecodable,
        reason: "the destination of a compare or `v_readfirstlane` cannot be a read-only register",
    },
    Fault {
        shows: |text| {
            text.contains("/*Invalid")
                && ["mfma", "smfmac", "scalef32", "movrel"].iter().any(|part| text.contains(part))
        },
        here: Instead::SameMnemonic,
        reason: "scalar registers and constants where only vector registers are possible: LLVM gives them a width of \
                 its own choice",
    },
    Fault {
        shows: |text| text.contains("0.15915494/*Invalid"),
        here: Instead::SameMnemonic,
        reason: "a constant as the address of 64 bits: LLVM prints 1/2π as if it had 32",
    },
    Fault {
        shows: |text| text.starts_with("v_nop "),
        here: Instead::SameMnemonic,
        reason: "`v_nop` has no source that a DPP word could follow",
    },
    Fault {
        shows: |text| text.contains(" offset:0x0"),
        here: Instead::SameWithoutOffset,
        reason: "scalar memory with an offset register and an immediate of 0 means the same as without the immediate",
    },
    Fault {
        shows: |text| {
            text.split(':').skip(1).any(|tail| number(tail).is_some_and(|last| (256..288).contains(&last)))
        },
        here: Instead::Undecodable,
        reason: "a run of vector registers that ends beyond v255 does not exist",
    },
    Fault {
        shows: |text| ["image_", "v_interp_", "exp ", "exp\t"].iter().any(|name| text.starts_with(name)),
        here: Instead::Undecodable,
        reason: "graphics instructions of gfx908 and image_sample of gfx90a; the tables hold compute instructions",
    },
];

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

/// The number before a closing bracket.
fn number(tail: &str) -> Option<u32> {
    tail.split(']').next()?.parse().ok()
}

/// One line of the disassembler.
struct Line {
    address: u64,
    bytes: Vec<u8>,
    text: String,
}

/// Result of a comparison.
#[derive(Default)]
struct Outcome {
    instructions: u64,
    unknown: u64,
    /// Samples the disassembler crashes on.
    crashes: u64,
    /// First example and number of differences, by mnemonic.
    differences: BTreeMap<String, (u64, String)>,
}

impl Outcome {
    fn add(&mut self, other: Outcome) {
        self.instructions += other.instructions;
        self.unknown += other.unknown;
        self.crashes += other.crashes;
        for (name, (count, example)) in other.differences {
            self.differences.entry(name).or_insert((0, example)).0 += count;
        }
    }

    fn differing(&self) -> u64 {
        self.differences.values().map(|(count, _)| count).sum()
    }

    fn print(&self, what: &str) {
        println!(
            "{what}: {} instructions, {} undecodable words, {} differ",
            self.instructions,
            self.unknown,
            self.differing()
        );
        for (name, (count, example)) in &self.differences {
            println!("  {count:>8} {name}: {example}");
        }
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let mut total = Outcome::default();
    match arguments {
        [] => total.add(random::all(&Isa::ALL, 400, 1)?),
        [option, rest @ ..] if option == "--random" => {
            let count = rest.first().map_or(Ok(400), |word| word.parse())?;
            let seed = rest.get(1).map_or(Ok(1), |word| word.parse())?;
            total.add(random::all(&Isa::ALL, count, seed)?);
        }
        files => {
            let mut by_isa: BTreeMap<Isa, Outcome> = BTreeMap::new();
            for file in files {
                let Some((isa, outcome)) = object(Path::new(file))? else { continue };
                if outcome.differing() > 0 {
                    outcome.print(file);
                }
                by_isa.entry(isa).or_default().add(outcome);
            }
            for (isa, outcome) in by_isa {
                println!(
                    "{}: {} instructions, {} undecodable words, {} differ",
                    isa.processor(),
                    outcome.instructions,
                    outcome.unknown,
                    outcome.differing()
                );
                total.add(outcome);
            }
        }
    }
    total.print("all");
    if total.differing() > 0 {
        bail!("{} of {} instructions differ", total.differing(), total.instructions);
    }
    Ok(())
}

/// Compares one code object; `None` if it is none of a known target.
fn object(path: &Path) -> Result<Option<(Isa, Outcome)>> {
    use std::io::Read as _;
    let mut head = [0u8; 52];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut head));
    if read.is_err() || &head[..4] != b"\x7fELF" || head[18] != 224 {
        return Ok(None);
    }
    // The low byte of e_flags names the machine.
    let isa = match head[48] {
        0x30 => Isa::Gfx908,
        0x3f => Isa::Gfx90a,
        0x40 | 0x4b | 0x4c => Isa::Gfx942,
        0x4f => Isa::Gfx950,
        _ => return Ok(None),
    };
    let mut outcome = Outcome::default();
    let mut run: Vec<Line> = Vec::new();
    let finished = disassemble(path, isa, |line| {
        let follows = run.last().is_none_or(|last| last.address + last.bytes.len() as u64 == line.address);
        if !follows || run.len() >= 4096 {
            // A run ends inside the code: decoding restarts there at an instruction that LLVM found, too.
            compare(isa, &run, &mut outcome);
            run.clear();
        }
        run.push(line);
    })?;
    compare(isa, &run, &mut outcome);
    if !finished {
        bail!("{OBJDUMP} failed on {}", path.display());
    }
    Ok(Some((isa, outcome)))
}

/// Runs the disassembler and hands over its lines. False if it did not end well.
fn disassemble(path: &Path, isa: Isa, mut each: impl FnMut(Line)) -> Result<bool> {
    let mut child = Command::new(OBJDUMP)
        .args(["-d", "-z", "--no-leading-addr"])
        .arg(format!("--mcpu={}", isa.processor()))
        .arg(path)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {OBJDUMP}; `cargo xtask setup` installs it"))?;
    let output = child.stdout.take().context("no output")?;
    for line in BufReader::with_capacity(1 << 20, output).lines() {
        let line = line?;
        // The comment is the last one: a remark may precede it.
        let Some(at) = line.rfind("// ") else { continue };
        let Some((address, words)) = line[at + 3..].split_once(':') else { continue };
        let Ok(address) = u64::from_str_radix(address, 16) else { continue };
        let mut bytes = Vec::with_capacity(8);
        for word in words.split_whitespace() {
            match u32::from_str_radix(word, 16) {
                Ok(value) if word.len() == 8 => bytes.extend(value.to_le_bytes()),
                _ => break,
            }
        }
        each(Line { address, bytes, text: line[..at].trim().to_owned() });
    }
    Ok(child.wait()?.success())
}

/// Compares a run of lines that follow each other.
fn compare(isa: Isa, lines: &[Line], outcome: &mut Outcome) {
    let mut code: Vec<u8> = Vec::with_capacity(lines.len() * 8);
    for line in lines {
        code.extend_from_slice(&line.bytes);
    }
    let mut offset = 0;
    let mut text = String::new();
    for line in lines {
        let inst = decode(isa, &code, offset);
        one(isa, &inst, line, &mut text, outcome);
        offset += line.bytes.len() as u32;
    }
}

fn one(isa: Isa, inst: &Inst, line: &Line, text: &mut String, outcome: &mut Outcome) {
    outcome.instructions += 1;
    outcome.unknown += u64::from(inst.is_unknown());
    text.clear();
    inst.write_text(isa, text);
    let same_size = usize::from(inst.size) == line.bytes.len();
    let same = (same_size && *text == line.text) || is_fault(text, line);
    if !same {
        let mut name = line.text.split_whitespace().next().unwrap_or("").to_owned();
        if name == ".long" {
            name = format!(".long, here {}", inst.info().name);
        }
        let words: Vec<String> = line
            .bytes
            .chunks(4)
            .map(|word| {
                format!("{:08x}", word.iter().rev().fold(0u32, |sum, &byte| sum << 8 | u32::from(byte)))
            })
            .collect();
        let example = format!(
            "{} {}: LLVM `{}` here `{text}` size {}",
            isa.processor(),
            words.join(" "),
            line.text,
            inst.size
        );
        outcome.differences.entry(name).or_insert((0, example)).0 += 1;
    }
}

/// True if a fault of LLVM explains the difference; it may take another length, too.
fn is_fault(ours: &str, line: &Line) -> bool {
    let theirs = line.text.as_str();
    // The treatment of the rest of an SDWA destination has three values; LLVM prints any text for the fourth.
    if theirs.contains(" dst_unused:") && line.bytes.get(5).is_some_and(|byte| byte >> 3 & 3 == 3) {
        return ours.starts_with(".long");
    }
    // LLVM's tables lack some returning floating-point atomics on accumulation registers.
    let lacking = ["add_f32 a", "pk_add_f16 a", "_f64 a"];
    if theirs.starts_with(".long") && lacking.iter().any(|part| ours.contains(part)) && ours.contains(" sc0")
    {
        return true;
    }
    LLVM_FAULTS.iter().any(|fault| {
        (fault.shows)(theirs)
            && match fault.here {
                Instead::SameWithoutRemark => without_remarks(ours) == without_remarks(theirs),
                Instead::Undecodable => ours.starts_with(".long"),
                Instead::SameMnemonic => ours.split(' ').next() == theirs.split(' ').next(),
                Instead::SameWithoutOffset => theirs.replace(" offset:0x0", "") == ours,
            }
    })
}

fn without_remarks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("/*") {
        out.push_str(&rest[..at]);
        rest = rest[at..].find("*/").map_or("", |end| &rest[at + end + 2..]);
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A modest sample of every opcode of every target; `cargo xtask isa-diff` takes larger ones.
    #[test]
    fn random_encodings_print_as_llvm_prints_them() {
        if !testkit::needs(&[OBJDUMP]) {
            return;
        }
        let outcome = random::all(&Isa::ALL, 2, 2026).unwrap();
        assert!(outcome.instructions > 25_000, "only {} samples came back", outcome.instructions);
        let decoded = outcome.instructions - outcome.unknown;
        assert!(decoded > 5_000, "only {decoded} samples are instructions");
        assert!(outcome.crashes < 50, "{OBJDUMP} crashed {} times", outcome.crashes);
        assert!(outcome.differences.is_empty(), "{:#?}", outcome.differences);
    }
}
