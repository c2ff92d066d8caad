//! Element types of arguments, and numbers as bytes.
//!
//! Numbers are `f64` here whatever the element type; results are compared at the precision of the element.
//! Integers beyond 2^53 lose their last digits.

use arch::ElementType;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Type of an element, of those that launch files can write.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element(ElementType);

impl Element {
    /// A byte.
    pub const BYTE: Element = Element(ElementType::U8);
    /// Names of all.
    pub const NAMES: [&'static str; 12] =
        ["f64", "f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"];

    /// The type that is called so, if launch files can write it.
    pub fn by_name(name: &str) -> Option<Element> {
        use ElementType::{F4, F6, F8, Xf32};
        ElementType::by_name(name).filter(|it| ![F4, F6, F8, Xf32].contains(it)).map(Element)
    }

    /// The first of f32 and f64 as which all elements of all contents have magnitudes of results; a byte if there is none.
    /// Lower halves of f64 have any magnitude as f32, small integers none, and negative ones are NaN; a handful of
    /// elements may look like both.
    pub fn likely(contents: &[&[u8]]) -> Element {
        let usual = |it: f64| it == 0.0 || (1e-15..1e15).contains(&it.abs());
        let fits = |it: &Element| {
            let all = |bytes: &&[u8]| it.numbers(bytes).into_iter().all(usual);
            contents.iter().all(|bytes| bytes.len().is_multiple_of(it.size()) && all(bytes))
        };
        let all = [ElementType::F32, ElementType::F64].map(Element);
        all.into_iter().find(fits).unwrap_or(Element::BYTE)
    }

    /// Name: `f16`.
    pub fn name(self) -> &'static str {
        self.0.name()
    }

    /// Bytes of one.
    pub fn size(self) -> usize {
        self.0.bytes_of(1) as usize
    }

    /// Whether it holds whole numbers only.
    pub fn is_whole(self) -> bool {
        self.0.is_integer()
    }

    /// Difference that other orders of the same sums make, relative to the element or to the root of the mean square of
    /// all: 0 for integers.
    pub fn usual_difference(self) -> f64 {
        match self.0 {
            ElementType::F64 => 1e-11,
            ElementType::F32 => 1e-5,
            ElementType::F16 => 4e-3,
            ElementType::Bf16 => 3e-2,
            _ => 0.0,
        }
    }

    /// Numbers as bytes.
    pub fn bytes(self, numbers: impl Iterator<Item = f64>) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(numbers.size_hint().0 * self.size());
        for number in numbers {
            match self.0 {
                ElementType::I8 => bytes.extend((number as i8).to_le_bytes()),
                ElementType::U8 => bytes.extend((number as u8).to_le_bytes()),
                ElementType::I16 => bytes.extend((number as i16).to_le_bytes()),
                ElementType::U16 => bytes.extend((number as u16).to_le_bytes()),
                ElementType::I32 => bytes.extend((number as i32).to_le_bytes()),
                ElementType::U32 => bytes.extend((number as u32).to_le_bytes()),
                ElementType::I64 => bytes.extend((number as i64).to_le_bytes()),
                ElementType::U64 => bytes.extend((number as u64).to_le_bytes()),
                ElementType::F16 => bytes.extend(to_half(number).to_le_bytes()),
                ElementType::Bf16 => bytes.extend(to_bf16(number as f32).to_le_bytes()),
                ElementType::F32 | ElementType::Xf32 => bytes.extend((number as f32).to_le_bytes()),
                ElementType::F64 => bytes.extend(number.to_le_bytes()),
                // Not of this value.
                ElementType::F4 | ElementType::F6 | ElementType::F8 => {}
            }
        }
        bytes
    }

    /// Bytes as numbers; an incomplete one at the end is ignored.
    pub fn numbers(self, bytes: &[u8]) -> Vec<f64> {
        let one = |bytes: &[u8]| -> f64 {
            let mut wide = [0; 8];
            wide[..bytes.len()].copy_from_slice(bytes);
            let bits = u64::from_le_bytes(wide);
            match self.0 {
                ElementType::I8 => f64::from(bits as i8),
                ElementType::U8 => f64::from(bits as u8),
                ElementType::I16 => f64::from(bits as i16),
                ElementType::U16 => f64::from(bits as u16),
                ElementType::I32 => f64::from(bits as i32),
                ElementType::U32 => f64::from(bits as u32),
                ElementType::I64 => bits as i64 as f64,
                ElementType::U64 => bits as f64,
                ElementType::F16 => from_half(bits as u16),
                ElementType::Bf16 => f64::from(f32::from_bits((bits as u32) << 16)),
                ElementType::F32 | ElementType::Xf32 => f64::from(f32::from_bits(bits as u32)),
                ElementType::F64 => f64::from_bits(bits),
                ElementType::F4 | ElementType::F6 | ElementType::F8 => f64::NAN,
            }
        };
        bytes.chunks_exact(self.size()).map(one).collect()
    }
}

impl Serialize for Element {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Element {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Element, D::Error> {
        let name = String::deserialize(deserializer)?;
        Element::by_name(&name).ok_or_else(|| {
            let known = ElementType::ALL.iter().filter_map(|it| Element::by_name(it.name()));
            let known: Vec<&str> = known.map(Element::name).collect();
            de::Error::custom(format!("no type `{name}`; known are {}", known.join(", ")))
        })
    }
}

/// Rounds to the nearest half, ties to even.
fn to_half(number: f64) -> u16 {
    let sign = if number.is_sign_negative() { 0x8000 } else { 0 };
    let size = number.abs();
    if number.is_nan() {
        return 0x7e00;
    }
    if size >= 65520.0 {
        return sign | 0x7c00;
    }
    // Steps of the smallest normal number's last place below it, of the own last place above.
    let exponent = if size < 2f64.powi(-14) { -14 } else { size.log2().floor() as i32 };
    let steps = (size / 2f64.powi(exponent - 10)).round_ties_even() as u16;
    // A step count of 2048 carries into the exponent by itself.
    sign | if size < 2f64.powi(-14) { steps } else { (((exponent + 15) as u16) << 10) + (steps - 1024) }
}

fn from_half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// Rounds to the nearest, ties to even.
fn to_bf16(number: f32) -> u16 {
    let bits = number.to_bits();
    if number.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    ((u64::from(bits) + 0x7fff + u64::from(bits >> 16 & 1)) >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_guessed_by_magnitudes() {
        let floats = |name: &str, by: f64| {
            Element::by_name(name).unwrap().bytes((0..100).map(|it| 0.1 + by * f64::from(it)))
        };
        let integers = Element::by_name("i32").unwrap().bytes((0..100).map(|it| f64::from(it * 7 - 50)));
        let whole = Element::by_name("f64").unwrap().bytes((1..100).map(f64::from));
        let cases = [
            (vec![floats("f32", 0.5)], "f32"),
            (vec![floats("f64", 0.5)], "f64"),
            // Whole numbers have empty lower halves; the other contents tell.
            (vec![whole.clone(), floats("f64", 0.3)[8..].to_vec()], "f64"),
            (vec![integers], "u8"),
            (vec![vec![0xff; 64]], "u8"),
            (vec![vec![1, 2, 3]], "u8"),
        ];
        for (contents, expected) in cases {
            let contents: Vec<&[u8]> = contents.iter().map(Vec::as_slice).collect();
            assert_eq!(Element::likely(&contents).name(), expected);
        }
    }

    #[test]
    fn halves_round_to_nearest_even() {
        let cases = [
            (0.0, 0),
            (-0.0, 0x8000),
            (1.0, 0x3c00),
            (-2.0, 0xc000),
            (1.0 / 3.0, 0x3555),
            (65504.0, 0x7bff),
            (65519.0, 0x7bff),
            (65520.0, 0x7c00),
            (2049.0, 0x6800),
            (2051.0, 0x6802),
            (4095.9, 0x6c00),
            (6e-8, 1),
            (6.0975e-5, 0x3ff),
        ];
        for (number, bits) in cases {
            assert_eq!(to_half(number), bits, "{number}");
        }
        for bits in (0..0x7c00).chain(0x8000..0xfc00) {
            assert_eq!(to_half(from_half(bits)), bits);
        }
    }

    #[test]
    fn every_type_comes_back() {
        let types = ElementType::ALL.iter().filter_map(|it| Element::by_name(it.name()));
        assert_eq!(types.clone().count(), 12);
        for element in types {
            let bytes = element.bytes([0.0, 1.0, 100.0].into_iter());
            assert_eq!(bytes.len(), 3 * element.size());
            assert_eq!(element.numbers(&bytes), [0.0, 1.0, 100.0], "{element:?}");
        }
        let bf16 = Element::by_name("bf16").unwrap();
        assert_eq!(bf16.numbers(&bf16.bytes([1.0 / 3.0].into_iter())), [0.333_984_375]);
    }
}
