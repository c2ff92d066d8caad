//! Faults that `rockhound run` reports of the emulated GPU.

use super::{address, count};

/// A fault of the emulator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EmulatorFault {
    /// Line, 1-based.
    pub line: u32,
    /// Cause of the failure.
    pub cause: String,
    /// Kernel.
    pub kernel: String,
    /// Address of the instruction in the code object.
    pub address: u64,
    /// Text of the instruction.
    pub instruction: String,
    /// Workgroup, wave and lane, as written.
    pub place: String,
}

const HEAD: &str = "kernel stopped: ";

/// All faults of a text.
pub(super) fn read(lines: &[&str]) -> Vec<EmulatorFault> {
    let heads = lines.iter().enumerate().filter_map(|(at, line)| Some((at, line.split_once(HEAD)?.1)));
    heads.filter_map(|(at, cause)| one(at, cause, lines.get(at + 1..)?)).collect()
}

fn one(at: usize, cause: &str, rest: &[&str]) -> Option<EmulatorFault> {
    let line = rest.iter().take(3).find(|line| line.trim_start().starts_with("in `"))?;
    let (kernel, rest_of_line) = line.trim_start().strip_prefix("in `")?.split_once("` at ")?;
    let (place, instruction) = rest_of_line.split_once(": `")?;
    let who = rest.iter().take(4).find(|line| line.trim_start().starts_with("workgroup ("));
    Some(EmulatorFault {
        line: count(at + 1),
        cause: cause.trim().to_owned(),
        kernel: kernel.to_owned(),
        address: address(place)?,
        instruction: instruction.trim_end_matches('`').to_owned(),
        place: who.map_or_else(String::new, |line| line.trim().to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_the_emulator() {
        let text = "rockhound: kernel stopped: store of 4 bytes at 0x10: outside every allocation\n  in `copy` at 0x1a4: `global_store_dword v[0:1], v2, off`\n  workgroup (1, 0, 0), wave 2, lane 5\n";
        let found = read(&text.lines().collect::<Vec<_>>());
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].kernel.as_str(), found[0].address), ("copy", 0x1a4));
        assert_eq!(found[0].place, "workgroup (1, 0, 0), wave 2, lane 5");
    }
}
