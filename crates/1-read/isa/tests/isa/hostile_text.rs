//! Damaged assembly text: reading ends, says where it failed, and what it read holds together.

use rockhound_isa::text::parse_body;
use rockhound_isa::{Cfg, Isa, Liveness, Mix};

/// Bytes that steer the reader, put where they do not belong.
const PIECES: [&str; 31] = [
    "[",
    "]",
    ":",
    "|",
    "-",
    "(",
    ")",
    ",",
    ";",
    "//",
    "\"",
    "0x",
    "1f",
    "1b",
    ".long ",
    ".fill 9999999,8,1",
    "lit(",
    "v[0:",
    "s_branch ",
    "é",
    "\0",
    "=",
    "{",
    ".p2align 30",
    ".macro ",
    ".rept 999\n",
    ".irp x, 1, 2\n",
    ".if 1\n",
    "\\",
    "/*",
    "*/",
];

/// Numbers that look random and are the same in every run (xorshift*).
fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |limit| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % limit.max(1)
    }
}

#[test]
fn damaged_text_is_read_to_its_end() {
    let source = concat!(
        include_str!("../lines/every.s"),
        include_str!("../lines/gfx90a.s"),
        include_str!("../lines/gfx942.s"),
        include_str!("../lines/gfx950.s"),
        include_str!("../lines/preprocessed.s")
    );
    let lines: Vec<&str> = source.lines().collect();
    let mut next = numbers();
    for round in 0..4_000 {
        let mut text = String::new();
        for _ in 0..next(12) + 1 {
            let mut line: Vec<char> = lines[next(lines.len())].chars().collect();
            for _ in 0..next(4) {
                let at = next(line.len() + 1);
                match next(4) {
                    0 => line.truncate(at),
                    1 if at < line.len() => drop(line.remove(at)),
                    2 => {
                        let other = lines[next(lines.len())];
                        line.extend(other.chars());
                    }
                    _ => {
                        let piece = PIECES[next(PIECES.len())];
                        let tail = line.split_off(at.min(line.len()));
                        line.extend(piece.chars().chain(tail));
                    }
                }
            }
            text.extend(line);
            text.push('\n');
        }
        let isa = Isa::ALL[round % Isa::ALL.len()];
        let body = parse_body(isa, text.lines());
        let count = text.lines().count() as u32;
        assert_eq!(body.insts.len(), body.line_of.len());
        assert!(body.line_of.iter().all(|line| *line < count));
        assert!(body.errors.iter().all(|error| error.line < count && error.column > 0), "{text}");
        assert!(body.insts.windows(2).all(|pair| pair[0].end() == pair[1].offset));
        assert_eq!(body.insts.iter().map(|inst| u32::from(inst.size)).sum::<u32>(), body.size);
        let mut printed = String::new();
        body.insts.iter().for_each(|inst| inst.write_text(isa, &mut printed));
        let cfg = Cfg::build(&body.insts);
        assert_eq!(Liveness::build(&body.insts, &cfg).before.len(), body.insts.len());
        assert_eq!(Mix::of(&body.insts).total() as usize, body.insts.len());
    }
}
