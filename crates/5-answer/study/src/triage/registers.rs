//! Values of registers beside the instructions that name them.
//!
//! A dump has the registers of the moment the wave stopped; an instruction before the program counter may
//! have had others, so only the marked instructions get values.

use system::fault::AgentWave;
use view::TriageLine;

/// Operands shown of one instruction.
const MOST_OPERANDS: usize = 5;

/// Adds the values of their registers to the marked instructions.
pub(super) fn beside(code: &mut [TriageLine], wave: &AgentWave) {
    let lanes = wave.active_lanes();
    for line in code.iter_mut().filter(|line| line.current || line.suspect) {
        line.registers = values(wave, &line.text, &lanes);
    }
}

/// `v[0:1] = 0x7fbe4cc01000 (lane 0) to 0x7fbe4cc010fc (lane 63), v2 = 0x5 (all lanes)`.
fn values(wave: &AgentWave, text: &str, lanes: &[usize]) -> Option<String> {
    let mut seen: Vec<&str> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    for operand in text.split([' ', ',']).skip(1) {
        let operand = operand.trim_start_matches(['-', '|']).trim_end_matches('|');
        if seen.contains(&operand) || words.len() >= MOST_OPERANDS {
            continue;
        }
        let Some(value) = value(wave, operand, lanes) else { continue };
        seen.push(operand);
        words.push(format!("{operand} = {value}"));
    }
    (!words.is_empty()).then(|| words.join(", "))
}

/// The value of a register by its name; `None` if the name is not a register.
fn value(wave: &AgentWave, name: &str, lanes: &[usize]) -> Option<String> {
    if let Some(value) = wave.system.get(name) {
        return Some(format!("{value:#x}"));
    }
    let (kind, rest) = (name.chars().next()?, name.get(1..)?);
    let (first, last) = match rest.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
        Some(range) => range.split_once(':')?,
        None => (rest, rest),
    };
    let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
    if last < first || last - first > 15 {
        return None;
    }
    let missing = || Some("not in the dump".to_owned());
    match kind {
        's' => match (first..=last).map(|at| wave.scalars.get(&at).copied()).collect::<Option<Vec<u32>>>() {
            Some(words) => Some(number(&words)),
            None => missing(),
        },
        'v' => {
            let of = |lane: usize| {
                let words = (first..=last).map(|at| wave.vectors.get(&at)?.get(lane).copied());
                words.collect::<Option<Vec<u32>>>().map(|words| number(&words))
            };
            let all: Vec<(usize, String)> =
                lanes.iter().filter_map(|lane| Some((*lane, of(*lane)?))).collect();
            match (all.first(), all.last()) {
                (Some(begin), Some(end)) if all.iter().all(|it| it.1 == begin.1) => {
                    let which =
                        if all.len() > 1 { "all lanes".to_owned() } else { format!("lane {}", end.0) };
                    Some(format!("{} ({which})", begin.1))
                }
                (Some(begin), Some(end)) => {
                    Some(format!("{} (lane {}) to {} (lane {})", begin.1, begin.0, end.1, end.0))
                }
                _ => missing(),
            }
        }
        _ => None,
    }
}

/// One or two words as a number, more as words, the lowest first.
fn number(words: &[u32]) -> String {
    match words {
        [word] => format!("{word:#x}"),
        [low, high] => format!("{:#x}", u64::from(*high) << 32 | u64::from(*low)),
        more => {
            let words: Vec<String> = more.iter().map(|it| format!("{it:#x}")).collect();
            format!("[{}]", words.join(" "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_operands() {
        let mut wave = AgentWave {
            system: [("exec".to_owned(), 0b1011), ("m0".to_owned(), 16)].into(),
            ..AgentWave::default()
        };
        for (register, words) in [(0, [0x1000, 0x1004, 0x1008, 0x100c]), (1, [7; 4]), (2, [5; 4])] {
            wave.vectors.insert(register, words.to_vec());
        }
        wave.scalars = [(4, 0x2000), (5, 1), (6, 9), (7, 9)].into();
        let lanes = wave.active_lanes();
        for (text, expected) in [
            (
                "global_store_dword v[0:1], v2, off",
                Some("v[0:1] = 0x700001000 (lane 0) to 0x70000100c (lane 3), v2 = 0x5 (all lanes)"),
            ),
            (
                "global_load_dword v9, v0, s[4:5] offset:16",
                Some("v9 = not in the dump, v0 = 0x1000 (lane 0) to 0x100c (lane 3), s[4:5] = 0x100002000"),
            ),
            (
                "buffer_load_dword v2, v2, s[4:7], 0",
                Some("v2 = 0x5 (all lanes), s[4:7] = [0x2000 0x1 0x9 0x9]"),
            ),
            ("s_mov_b32 m0, s6", Some("m0 = 0x10, s6 = 0x9")),
            ("s_waitcnt vmcnt(0)", None),
            ("s_endpgm", None),
        ] {
            assert_eq!(values(&wave, text, &lanes).as_deref(), expected, "{text}");
        }
    }
}
