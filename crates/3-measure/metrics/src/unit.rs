//! Units: exponents over a few base quantities, and a scale.
//!
//! Every operation computes the unit of its result: bytes over nanoseconds gives GB/s, and a formula that
//! adds cycles to requests does not load.

use std::fmt;

/// Base quantities. Counted events (requests, instructions, waves) are separate quantities: dividing one by
/// another gives a number that says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Base {
    Time,
    Cycle,
    Byte,
    Flop,
    Op,
    Instruction,
    Request,
    Line,
    Sector,
    Wave,
    Workgroup,
    Item,
    Thread,
    Register,
    MatrixOps,
    LdsBlock,
    Count,
    Norm,
}

const BASES: usize = 18;

/// A unit.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    powers: [i8; BASES],
    /// Size in base units.
    scale: f64,
}

/// A symbol, its size, and the powers of its bases.
type Symbol = (&'static str, f64, &'static [(Base, i8)]);

/// Symbols: size, base and power. Several names of one quantity are for reading only: a hit is a request.
const SYMBOLS: &[Symbol] = &[
    ("1", 1.0, &[]),
    ("%", 0.01, &[]),
    ("CU", 1.0, &[]),
    ("channel", 1.0, &[]),
    ("conflict", 1.0, &[(Base::Request, 1)]),
    ("s", 1.0, &[(Base::Time, 1)]),
    ("ms", 1e-3, &[(Base::Time, 1)]),
    ("us", 1e-6, &[(Base::Time, 1)]),
    ("ns", 1e-9, &[(Base::Time, 1)]),
    ("cycle", 1.0, &[(Base::Cycle, 1)]),
    ("MHz", 1e6, &[(Base::Cycle, 1), (Base::Time, -1)]),
    ("B", 1.0, &[(Base::Byte, 1)]),
    ("KiB", 1024.0, &[(Base::Byte, 1)]),
    ("GB", 1e9, &[(Base::Byte, 1)]),
    ("flop", 1.0, &[(Base::Flop, 1)]),
    ("Gflop", 1e9, &[(Base::Flop, 1)]),
    ("op", 1.0, &[(Base::Op, 1)]),
    ("Gop", 1e9, &[(Base::Op, 1)]),
    ("instr", 1.0, &[(Base::Instruction, 1)]),
    ("req", 1.0, &[(Base::Request, 1)]),
    ("hit", 1.0, &[(Base::Request, 1)]),
    ("miss", 1.0, &[(Base::Request, 1)]),
    ("access", 1.0, &[(Base::Request, 1)]),
    ("line", 1.0, &[(Base::Line, 1)]),
    ("sector", 1.0, &[(Base::Sector, 1)]),
    ("wave", 1.0, &[(Base::Wave, 1)]),
    ("workgroup", 1.0, &[(Base::Workgroup, 1)]),
    ("item", 1.0, &[(Base::Item, 1)]),
    ("thread", 1.0, &[(Base::Thread, 1)]),
    ("register", 1.0, &[(Base::Register, 1)]),
    ("mop", 1.0, &[(Base::MatrixOps, 1)]),
    ("lds64", 1.0, &[(Base::LdsBlock, 1)]),
    ("count", 1.0, &[(Base::Count, 1)]),
    ("norm", 1.0, &[(Base::Norm, 1)]),
];

impl Unit {
    /// No unit.
    pub const ONE: Self = Self { powers: [0; BASES], scale: 1.0 };

    /// Reads `GB/s`, `req*cycle`, `instr/norm`. The error names what is unknown.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut unit = Self::ONE;
        let mut rest = text.trim();
        let mut divide = false;
        loop {
            let end = rest.find(['*', '/']).unwrap_or(rest.len());
            let symbol = rest[..end].trim();
            let (_, scale, powers) = SYMBOLS
                .iter()
                .find(|(s, _, _)| *s == symbol)
                .ok_or_else(|| format!("unknown unit `{symbol}`"))?;
            let mut factor = Self { scale: *scale, ..Self::ONE };
            for (base, p) in *powers {
                factor.powers[*base as usize] += p;
            }
            unit = if divide { unit.over(factor) } else { unit.times(factor) };
            if end == rest.len() {
                return Ok(unit);
            }
            divide = rest.as_bytes()[end] == b'/';
            rest = &rest[end + 1..];
        }
    }

    /// Product.
    pub fn times(self, other: Self) -> Self {
        self.combine(other, 1)
    }

    /// Quotient.
    pub fn over(self, other: Self) -> Self {
        self.combine(other, -1)
    }

    fn combine(mut self, other: Self, sign: i8) -> Self {
        for (a, b) in self.powers.iter_mut().zip(other.powers) {
            // Formulas are short; a power beyond what fits is as wrong as any other.
            *a = a.saturating_add(b.saturating_mul(sign));
        }
        self.scale = if sign > 0 { self.scale * other.scale } else { self.scale / other.scale };
        self
    }

    /// Whether both measure the same quantity.
    pub fn same_quantity(self, other: Self) -> bool {
        self.powers == other.powers
    }

    /// Factor that converts a value in this unit to `other`.
    pub fn factor_to(self, other: Self) -> f64 {
        let f = self.scale / other.scale;
        // Decimal scales leave rounding behind: 1e9 over 1e-9 times 1e-18 is meant to be 1.
        let near = f.round();
        if near > 0.0 && ((f - near) / near).abs() < 1e-12 {
            return near;
        }
        let inverse = (1.0 / f).round();
        if inverse > 0.0 && (f * inverse - 1.0).abs() < 1e-12 { 1.0 / inverse } else { f }
    }

    /// Whether the value is divided by the normalisation.
    pub(crate) fn is_per_norm(self) -> bool {
        self.powers[Base::Norm as usize] == -1
    }

    /// The unit without the normalisation.
    pub(crate) fn without_norm(mut self) -> Self {
        self.powers[Base::Norm as usize] = 0;
        self
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The plainest symbol of each base represents it.
        const NAMES: [&str; BASES] = [
            "s",
            "cycle",
            "B",
            "flop",
            "op",
            "instr",
            "req",
            "line",
            "sector",
            "wave",
            "workgroup",
            "item",
            "thread",
            "register",
            "mop",
            "lds64",
            "count",
            "norm",
        ];
        let mut first = true;
        let near = self.scale.round();
        let scale = if ((self.scale - near) / near).abs() < 1e-12 { near } else { self.scale };
        if scale != 1.0 {
            write!(f, "{scale}")?;
            first = false;
        }
        for (i, p) in self.powers.iter().enumerate() {
            for _ in 0..(*p).max(0) {
                write!(f, "{}{}", if first { "" } else { "*" }, NAMES[i])?;
                first = false;
            }
        }
        if first {
            write!(f, "1")?;
        }
        for (i, p) in self.powers.iter().enumerate() {
            for _ in 0..(-*p).max(0) {
                write!(f, "/{}", NAMES[i])?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_convert_when_they_measure_the_same() {
        for (from, to, factor) in [
            ("B/ns", "GB/s", Some(1.0)),
            ("MHz*B/cycle", "GB/s", Some(1e-3)),
            ("MHz*flop/cycle", "Gflop/s", Some(1e-3)),
            ("instr/ns", "instr/s", Some(1e9)),
            ("req/req", "%", Some(100.0)),
            ("thread*cycle/cycle", "thread", Some(1.0)),
            ("req*cycle/req", "cycle", Some(1.0)),
            ("cycle", "s", None),
            ("flop", "op", None),
            ("instr", "req", None),
        ] {
            let (a, b) = (Unit::parse(from).unwrap(), Unit::parse(to).unwrap());
            let got = a.same_quantity(b).then(|| a.factor_to(b));
            assert_eq!(got, factor, "{from} to {to}");
        }
    }

    #[test]
    fn unknown_symbols_are_named() {
        for (text, error) in
            [("GB/S", "unknown unit `S`"), ("", "unknown unit ``"), ("B//s", "unknown unit ``")]
        {
            assert_eq!(Unit::parse(text).unwrap_err(), error);
        }
    }

    #[test]
    fn every_counter_of_the_catalogue_has_a_known_unit() {
        for d in counters::catalogue().counters() {
            assert!(Unit::parse(&d.unit).is_ok(), "{}: {}", d.name, d.unit);
        }
    }
}
