//! Element types and their names in every library.

use crate::table::Rows;
use serde::{Deserialize, Deserializer, de};
use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

/// Type of an element, from narrow to wide.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ElementType {
    /// 4-bit floating point.
    F4,
    /// 6-bit floating point.
    F6,
    /// 8-bit floating point of any kind.
    F8,
    /// 8-bit integer.
    I8,
    /// 8-bit integer without sign.
    U8,
    /// Bfloat16.
    Bf16,
    /// Half precision.
    F16,
    /// 16-bit integer.
    I16,
    /// 16-bit integer without sign.
    U16,
    /// Single precision with 10 bits of fraction in products.
    Xf32,
    /// Single precision.
    F32,
    /// 32-bit integer.
    I32,
    /// 32-bit integer without sign.
    U32,
    /// Double precision.
    F64,
    /// 64-bit integer.
    I64,
    /// 64-bit integer without sign.
    U64,
}

/// Names of a type, from `data/elements.tsv`.
struct Names {
    name: &'static str,
    bits: u32,
}

/// What the names of all types mean.
struct Table {
    types: Vec<Names>,
    by_name: HashMap<&'static str, ElementType>,
    /// Beginnings of names, longest first.
    by_prefix: Vec<(&'static str, ElementType)>,
}

impl ElementType {
    /// All types, from narrow to wide.
    pub const ALL: [ElementType; 16] = [
        ElementType::F4,
        ElementType::F6,
        ElementType::F8,
        ElementType::I8,
        ElementType::U8,
        ElementType::Bf16,
        ElementType::F16,
        ElementType::I16,
        ElementType::U16,
        ElementType::Xf32,
        ElementType::F32,
        ElementType::I32,
        ElementType::U32,
        ElementType::F64,
        ElementType::I64,
        ElementType::U64,
    ];

    /// Types of the factors of a matrix product, the usual ones first.
    pub const FACTORS: [ElementType; 9] = [
        ElementType::F16,
        ElementType::Bf16,
        ElementType::F8,
        ElementType::F6,
        ElementType::F4,
        ElementType::I8,
        ElementType::F32,
        ElementType::Xf32,
        ElementType::F64,
    ];

    /// The type that a library, compiler or user calls so: `f16`, `Half`, `torch.float8_e4m3fnuz`, `mxfp4`.
    /// Letter case does not matter.
    pub fn by_name(name: &str) -> Option<ElementType> {
        let table = table();
        if let Some(found) = table.by_name.get(name) {
            return Some(*found);
        }
        let lower = name.to_ascii_lowercase();
        let short = lower.trim_start_matches("torch.").trim_start_matches("c10::").trim_end_matches("_r");
        table.by_name.get(short).copied().or_else(|| {
            table.by_prefix.iter().find(|(prefix, _)| short.starts_with(prefix)).map(|(_, found)| *found)
        })
    }

    /// Our name: `f16`.
    pub fn name(self) -> &'static str {
        table().types[self as usize].name
    }

    /// Bits of a value.
    pub fn bits(self) -> u32 {
        table().types[self as usize].bits
    }

    /// Bytes of so many values without padding; saturates.
    pub fn bytes_of(self, values: u64) -> u64 {
        values.saturating_mul(u64::from(self.bits())).div_ceil(8)
    }

    /// Whether values are whole numbers.
    pub const fn is_integer(self) -> bool {
        use ElementType::{I8, I16, I32, I64, U8, U16, U32, U64};
        matches!(self, I8 | U8 | I16 | U16 | I32 | U32 | I64 | U64)
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// By any of its names.
impl<'de> Deserialize<'de> for ElementType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ElementType, D::Error> {
        let name = String::deserialize(deserializer)?;
        ElementType::by_name(&name).ok_or_else(|| {
            let known: Vec<&str> = ElementType::ALL.iter().map(|it| it.name()).collect();
            de::Error::custom(format!("no element type `{name}`; known are {}", known.join(", ")))
        })
    }
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { types: Vec::new(), by_name: HashMap::new(), by_prefix: Vec::new() };
        for (row, element) in Rows::of(include_str!("../data/elements.tsv")).zip(ElementType::ALL) {
            let bits = row.number("bits").map_or(0, |bits| bits as u32);
            table.types.push(Names { name: row.text("name"), bits });
            for name in row.text("aliases").split(',').chain([row.text("name")]) {
                match name.strip_suffix('*') {
                    Some(prefix) => table.by_prefix.push((prefix, element)),
                    None => _ = table.by_name.insert(name, element),
                }
            }
        }
        table.by_prefix.sort_by_key(|(prefix, _)| std::cmp::Reverse(prefix.len()));
        table
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_types_in_their_order() {
        let rows: Vec<_> = Rows::of(include_str!("../data/elements.tsv")).collect();
        assert_eq!(rows.len(), ElementType::ALL.len());
        let mut names: Vec<&str> = Vec::new();
        for (row, element) in rows.iter().zip(ElementType::ALL) {
            assert_eq!(format!("{element:?}").to_lowercase(), row.text("name"));
            assert!(
                element.bits() >= 4 && row.text("name").ends_with(&element.bits().to_string()),
                "{element}"
            );
            names.extend(row.text("aliases").split(',').chain([row.text("name")]));
        }
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all, "a name of two types");
    }

    #[test]
    fn names_of_every_library() {
        for (names, want) in [
            ("f4 fp4 mxfp4 afp4 e2m1 torch.float4_e2m1fn_x2 f4E2M1FN a4w4", Some(ElementType::F4)),
            ("f6 fp6 mxfp6 e2m3 f6E3M2FN", Some(ElementType::F6)),
            (
                "f8 fp8 bf8 FP8 f8_r bf8_r f8E4M3FNUZ fp8e4b8 Float8_e4m3fn torch.float8_e5m2fnuz",
                Some(ElementType::F8),
            ),
            ("f16 FP16 Half float16 torch.float16 f16_r _Float16 c10::Half", Some(ElementType::F16)),
            ("bf16 BFloat16 c10::BFloat16 torch.bfloat16 bf16_r BFP16", Some(ElementType::Bf16)),
            ("xf32 tf32 xf32_r", Some(ElementType::Xf32)),
            ("f32 float torch.float32 FP32", Some(ElementType::F32)),
            ("f64 double FP64", Some(ElementType::F64)),
            ("i8 INT8 Char torch.int8 i8_r", Some(ElementType::I8)),
            ("float128 f5 c10::complex<float> _r f", None),
        ] {
            for name in names.split(' ') {
                assert_eq!(ElementType::by_name(name), want, "{name}");
            }
        }
        assert_eq!(ElementType::by_name("unsigned int"), Some(ElementType::U32));
        assert_eq!(ElementType::by_name(""), None);
        assert_eq!((ElementType::F6.bytes_of(5), ElementType::F64.bytes_of(u64::MAX)), (4, u64::MAX / 8 + 1));
    }
}
