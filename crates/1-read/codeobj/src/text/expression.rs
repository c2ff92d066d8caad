//! Values of assembly expressions such as `max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1, 0)`.
//!
//! Newer compilers leave register counts as formulas over `.set` symbols, which may come later in the file
//! and refer to each other; every symbol is evaluated once, and depth is bounded. Source: the AMDGPU back-end
//! user guide, "Symbolic expressions"; precedence as in LLVM's assembly parser.

use std::collections::HashMap;

/// Nesting of symbols and parentheses beyond which an expression has no value.
const DEEPEST: u32 = 100;

/// Symbols and what they are set to.
#[derive(Default)]
pub(crate) struct Symbols<'a> {
    formulas: HashMap<&'a str, &'a str>,
    values: HashMap<&'a str, Option<i64>>,
}

impl<'a> Symbols<'a> {
    /// Records `.set name, formula`.
    pub(crate) fn set(&mut self, name: &'a str, formula: &'a str) {
        self.formulas.insert(name, formula);
    }

    /// The value of an expression; `None` when it is malformed or names an unknown symbol. `unified` tells
    /// whether AGPRs are in the file of the VGPRs.
    pub(crate) fn value(&mut self, expression: &'a str, unified: bool) -> Option<i64> {
        if let Ok(value) = expression.parse() {
            return Some(value);
        }
        self.evaluate(expression, unified, 0)
    }

    fn evaluate(&mut self, expression: &'a str, unified: bool, depth: u32) -> Option<i64> {
        let mut parser = Parser { rest: expression.trim(), symbols: self, unified, depth };
        let value = parser.binary(0)?;
        parser.rest.is_empty().then_some(value)
    }

    fn symbol(&mut self, name: &'a str, unified: bool, depth: u32) -> Option<i64> {
        if let Some(value) = self.values.get(name) {
            return *value;
        }
        let formula = *self.formulas.get(name)?;
        // A symbol that needs itself has no value.
        self.values.insert(name, None);
        let value = self.evaluate(formula, unified, depth + 1);
        self.values.insert(name, value);
        value
    }
}

struct Parser<'s, 'a> {
    rest: &'a str,
    symbols: &'s mut Symbols<'a>,
    unified: bool,
    depth: u32,
}

type Apply = fn(i64, i64) -> Option<i64>;

/// Operators from the loosest to the tightest; longer spellings before their beginnings.
const OPERATORS: [(&str, u8, Apply); 16] = [
    ("||", 1, |a, b| Some(i64::from(a != 0 || b != 0))),
    ("&&", 2, |a, b| Some(i64::from(a != 0 && b != 0))),
    ("==", 3, |a, b| Some(compared(a == b))),
    ("!=", 3, |a, b| Some(compared(a != b))),
    ("<<", 6, |a, b| a.checked_shl(u32::try_from(b).ok()?)),
    (">>", 6, |a, b| Some((a as u64).checked_shr(u32::try_from(b).ok()?)? as i64)),
    ("<=", 3, |a, b| Some(compared(a <= b))),
    (">=", 3, |a, b| Some(compared(a >= b))),
    ("<", 3, |a, b| Some(compared(a < b))),
    (">", 3, |a, b| Some(compared(a > b))),
    ("+", 4, i64::checked_add),
    ("-", 4, i64::checked_sub),
    ("|", 5, |a, b| Some(a | b)),
    ("^", 5, |a, b| Some(a ^ b)),
    ("&", 5, |a, b| Some(a & b)),
    ("*", 6, i64::checked_mul),
];
const DIVISIONS: [(&str, Apply); 2] = [("/", i64::checked_div), ("%", i64::checked_rem)];

/// Comparisons yield all ones for true.
fn compared(truth: bool) -> i64 {
    -i64::from(truth)
}

impl<'a> Parser<'_, 'a> {
    fn binary(&mut self, loosest: u8) -> Option<i64> {
        let mut left = self.unary()?;
        while let Some((spelling, binding, apply)) = self.operator() {
            if binding <= loosest {
                break;
            }
            self.skip(spelling.len());
            let right = self.binary(binding)?;
            left = apply(left, right)?;
        }
        Some(left)
    }

    fn operator(&self) -> Option<(&'static str, u8, Apply)> {
        let found = OPERATORS.iter().find(|(spelling, ..)| self.rest.starts_with(spelling)).copied();
        found.or_else(|| {
            let division = DIVISIONS.iter().find(|(spelling, _)| self.rest.starts_with(spelling));
            division.map(|&(spelling, apply)| (spelling, 6, apply))
        })
    }

    fn skip(&mut self, count: usize) {
        self.rest = self.rest[count..].trim_start();
    }

    fn unary(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = self.unary_inner();
        self.depth -= 1;
        value
    }

    fn unary_inner(&mut self) -> Option<i64> {
        let first = self.rest.chars().next()?;
        match first {
            '-' => {
                self.skip(1);
                self.unary()?.checked_neg()
            }
            '~' => {
                self.skip(1);
                Some(!self.unary()?)
            }
            '!' => {
                self.skip(1);
                Some(i64::from(self.unary()? == 0))
            }
            '+' => {
                self.skip(1);
                self.unary()
            }
            '(' => {
                self.skip(1);
                let value = self.binary(0)?;
                self.close()?;
                Some(value)
            }
            '0'..='9' => self.number(),
            _ => self.symbol_or_call(),
        }
    }

    fn close(&mut self) -> Option<()> {
        self.rest.starts_with(')').then(|| self.skip(1))
    }

    fn number(&mut self) -> Option<i64> {
        let end = self.rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let text = &self.rest[..end];
        self.skip(end);
        match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            Some(digits) => i64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    fn symbol_or_call(&mut self) -> Option<i64> {
        let (name, end) = match self.rest.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (&quoted[..end], end + 2)
            }
            None => {
                let is_part = |letter: char| letter.is_alphanumeric() || "._$@".contains(letter);
                let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
                (&self.rest[..end], end)
            }
        };
        if end == 0 {
            return None;
        }
        self.skip(end);
        if !self.rest.starts_with('(') {
            return self.symbols.symbol(name, self.unified, self.depth);
        }
        self.skip(1);
        let mut arguments = Vec::new();
        loop {
            arguments.push(self.binary(0)?);
            if self.rest.starts_with(',') {
                self.skip(1);
            } else {
                self.close()?;
                break;
            }
        }
        self.call(name, &arguments)
    }

    fn call(&self, name: &str, arguments: &[i64]) -> Option<i64> {
        match (name, arguments) {
            ("max", all) => all.iter().copied().max(),
            ("min", all) => all.iter().copied().min(),
            ("or", all) => Some(all.iter().fold(0, |sum, value| sum | value)),
            ("alignto", &[value, step]) => align(value, step),
            ("totalnumvgprs", &[agprs, vgprs]) => match (self.unified, agprs) {
                (true, 0) => Some(vgprs),
                (true, _) => align(vgprs, 4)?.checked_add(agprs),
                (false, _) => Some(agprs.max(vgprs)),
            },
            _ => None,
        }
    }
}

fn align(value: i64, step: i64) -> Option<i64> {
    if step <= 0 {
        return None;
    }
    value.checked_add(step - 1).map(|sum| sum / step * step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        let sets = [
            ("k.num_vgpr", "max(41, amdgpu.max_num_vgpr)"),
            ("k.num_agpr", "max(3, amdgpu.max_num_agpr)"),
            ("amdgpu.max_num_vgpr", "42"),
            ("amdgpu.max_num_agpr", "0"),
            ("self", "self+1"),
            ("a", "b"),
            ("b", "a"),
            ("name with space", "7"),
        ];
        let cases = [
            ("12", Some(12)),
            ("0x10", Some(16)),
            ("1+2*3", Some(7)),
            ("(1+2)*3", Some(9)),
            ("10-3-2", Some(5)),
            ("1<<4|1", Some(17)),
            // `|` binds tighter than `+`, unlike in C.
            ("1+2|4", Some(7)),
            ("-1&255", Some(255)),
            ("~0", Some(-1)),
            ("max(totalnumvgprs(k.num_agpr, k.num_vgpr), 1, 0)", Some(47)),
            ("(((((alignto(max(1, k.num_vgpr), 4)/4)-1)&~65536)&63)+1)*4", Some(44)),
            ("max(k.num_vgpr+6, 1, 0)-6", Some(42)),
            ("or(0, 2, 4)", Some(6)),
            ("\"name with space\"+1", Some(8)),
            ("self", None),
            ("a", None),
            ("unknown", None),
            ("1/0", None),
            ("1 2", None),
            ("max(1", None),
            ("", None),
            ("9223372036854775807+1", None),
        ];
        for (expression, expected) in cases {
            let mut symbols = Symbols::default();
            for (name, formula) in sets {
                symbols.set(name, formula);
            }
            assert_eq!(symbols.value(expression, true), expected, "{expression}");
        }
    }

    #[test]
    fn depth_and_work_are_bounded() {
        let deep = "(".repeat(100_000);
        assert_eq!(Symbols::default().value(&deep, true), None);
        let names: Vec<String> = (0..90).map(|index| format!("s{index}")).collect();
        let formulas: Vec<String> = (0..90).map(|index| format!("s{0}+s{0}", index + 1)).collect();
        let mut symbols = Symbols::default();
        for (name, formula) in names.iter().zip(&formulas) {
            symbols.set(name, formula);
        }
        assert_eq!(symbols.value("s0", true), None);
    }
}
