//! Instructions whose results may have other bits than the hardware's, as facts.

use std::sync::OnceLock;

/// Opcodes of a kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Approximation {
    /// Mnemonic; with `*` at the end every mnemonic that begins so.
    pub opcodes: &'static str,
    /// Error of the hardware at most, as documented.
    pub bound: &'static str,
    /// What the emulator does.
    pub emulated: &'static str,
}

impl Approximation {
    fn is_of(&self, mnemonic: &str) -> bool {
        match self.opcodes.strip_suffix('*') {
            Some(begin) => mnemonic.starts_with(begin),
            None => mnemonic == self.opcodes,
        }
    }
}

/// All of them, in the order of the data file.
pub fn approximations() -> &'static [Approximation] {
    static ALL: OnceLock<Vec<Approximation>> = OnceLock::new();
    ALL.get_or_init(|| {
        let rows = include_str!("../data/approximations.tsv").lines().filter(|line| !line.starts_with('#'));
        let row = |line: &'static str| {
            let mut cells = line.split('\t');
            Some(Approximation { opcodes: cells.next()?, bound: cells.next()?, emulated: cells.next()? })
        };
        rows.filter_map(row).collect()
    })
}

/// How an opcode is approximated; `None` if its results have the hardware's bits.
pub fn approximation(mnemonic: &str) -> Option<&'static Approximation> {
    approximations().iter().find(|it| it.is_of(mnemonic))
}

#[cfg(test)]
mod tests {
    use super::*;
    use isa::Op;

    #[test]
    fn every_row_is_of_some_opcode_and_integers_are_exact() {
        let names: Vec<&str> = (0..Op::COUNT).map(|number| Op(number).info().name).collect();
        for row in approximations() {
            assert!(names.iter().any(|name| row.is_of(name)), "{row:?}");
            assert!(!row.bound.is_empty() && !row.emulated.is_empty(), "{row:?}");
        }
        let approximated = |name: &str| approximation(name).is_some();
        let transcendental = names.iter().filter(|name| {
            let functions = ["v_exp_", "v_log_", "v_sin_", "v_cos_", "v_rcp_", "v_rsq_", "v_sqrt_"];
            functions.iter().any(|it| name.starts_with(it))
        });
        for name in transcendental {
            assert!(approximated(name), "{name}");
        }
        for exact in
            ["v_fma_f32", "v_mfma_i32_32x32x8_i8", "v_cvt_f16_f32", "v_div_fixup_f32", "v_dot4_i32_i8"]
        {
            assert!(!approximated(exact), "{exact}");
        }
    }
}
