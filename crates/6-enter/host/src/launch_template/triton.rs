//! Files that Triton leaves beside a compiled kernel: the launch it expects, and the names and types of
//! arguments.
//!
//! Triton counts programs, a launch work-items; a program is one workgroup of `num_warps` waves, and takes
//! two pointers that its source does not name.

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use std::fmt;
use std::path::{Path, PathBuf};

/// The used fields of Triton's file.
#[derive(Deserialize)]
struct Written {
    name: String,
    num_warps: u64,
    #[serde(default = "lanes")]
    warp_size: u64,
    #[serde(default)]
    shared: u64,
    #[serde(default)]
    global_scratch_size: u64,
    #[serde(default)]
    profile_scratch_size: u64,
    signature: Option<Signature>,
}

fn lanes() -> u64 {
    64
}

/// Names and types in the order of the file.
struct Signature(Vec<(String, String)>);

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;
        impl<'de> Visitor<'de> for Pairs {
            type Value = Signature;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("types of arguments by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Signature, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Signature(pairs))
            }
        }
        deserializer.deserialize_map(Pairs)
    }
}

/// A kernel's launch as Triton wrote it down.
#[derive(Debug, PartialEq)]
pub(super) struct Companion {
    /// Source file.
    pub(super) path: PathBuf,
    /// Waves of a program.
    pub(super) warps: u64,
    /// Lanes of a wave.
    pub(super) lanes: u64,
    /// LDS of a program, bytes.
    pub(super) shared: u64,
    /// Arguments of the kernel in order; empty where no file names them.
    pub(super) arguments: Vec<Named>,
}

/// An argument.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    /// Name in the source.
    pub(super) name: String,
    /// Type as a launch file calls it; 8-bit floats are bytes.
    pub(super) element: &'static str,
    /// True for a pointer.
    pub(super) pointer: bool,
    /// Bytes per program of memory that Triton adds.
    pub(super) added: Option<u64>,
}

impl Companion {
    /// The one beside a code object, if it is of this kernel and fits its number of arguments.
    pub(super) fn beside(code: &Path, kernel: &str, count: usize) -> Option<Companion> {
        let path = code.with_extension("json");
        let json = std::fs::read_to_string(&path).ok()?;
        let intermediate = || {
            let text = |extension: &str| std::fs::read_to_string(code.with_extension(extension)).ok();
            text("ttir").or_else(|| text("ttgir"))
        };
        Companion::read(path, &json, kernel, count, intermediate)
    }

    fn read(
        path: PathBuf,
        json: &str,
        kernel: &str,
        count: usize,
        intermediate: impl FnOnce() -> Option<String>,
    ) -> Option<Companion> {
        let written: Written = serde_json::from_str(json).ok()?;
        if written.name != kernel {
            return None;
        }
        let mut arguments = match &written.signature {
            Some(Signature(pairs)) => of_signature(pairs),
            None => intermediate().map_or_else(Vec::new, |text| of_intermediate(&text, kernel)),
        };
        // Behind the arguments of the source.
        let added = [
            ("global_scratch", written.global_scratch_size),
            ("profile_scratch", written.profile_scratch_size),
        ];
        arguments.extend(added.map(|(name, bytes)| Named {
            name: name.to_owned(),
            element: "u8",
            pointer: true,
            added: Some(bytes),
        }));
        if arguments.len() != count {
            // Names of other arguments than the kernel's are worse than none.
            arguments.clear();
        }
        let Written { num_warps: warps, warp_size: lanes, shared, .. } = written;
        Some(Companion { path, warps, lanes, shared, arguments })
    }
}

fn element(name: &str) -> Option<&'static str> {
    crate::launch_file::Element::by_name(name).map(|it| it.name())
}

/// Arguments of `{"x": "*fp16", "n": "i32", "BLOCK": "constexpr"}`.
fn of_signature(pairs: &[(String, String)]) -> Vec<Named> {
    let taken = pairs.iter().filter(|(_, kind)| kind != "constexpr");
    let named = taken.map(|(name, kind)| {
        let pointer = kind.starts_with('*');
        let fallback = if pointer { "u8" } else { "i32" };
        let element = element(kind.trim_start_matches('*')).unwrap_or(fallback);
        Named { name: name.clone(), element, pointer, added: None }
    });
    named.collect()
}

/// Arguments of `tt.func public @kernel(%x: !tt.ptr<f16> {…} loc(…), %n: i32 …)`.
fn of_intermediate(text: &str, kernel: &str) -> Vec<Named> {
    let start = format!("tt.func public @{kernel}(");
    let Some((_, rest)) = text.split_once(&start) else { return Vec::new() };
    let line = rest.lines().next().unwrap_or("");
    let mut arguments = Vec::new();
    for piece in line.split('%').skip(1) {
        let Some((name, kind)) = piece.split_once(": ") else { continue };
        let (pointer, kind) = match kind.strip_prefix("!tt.ptr<") {
            Some(inside) => (true, inside),
            None => (false, kind),
        };
        let end = kind.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(kind.len());
        let fallback = if pointer { "u8" } else { "i32" };
        let element = element(&kind[..end]).unwrap_or(fallback);
        arguments.push(Named { name: name.to_owned(), element, pointer, added: None });
    }
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str =
        r#"{"name": "k", "num_warps": 4, "warp_size": 64, "shared": 1024, "profile_scratch_size": 16"#;
    const CODE: &str = "module {\n  tt.func public @k(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32} loc(\"x\"(#loc)), \
                        %f8: !tt.ptr<f8E4M3FNUZ>, %n: i32 loc(\"n\"(#loc))) attributes {noinline = false} {\n  %0 = a: b";

    fn names(companion: &Companion) -> String {
        let one = |it: &Named| format!("{}:{}{}", it.name, if it.pointer { "*" } else { "" }, it.element);
        companion.arguments.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn arguments_come_from_the_signature_or_the_intermediate_code() {
        let added = "global_scratch:*u8 profile_scratch:*u8";
        let signature =
            r#", "signature": {"x": "*fp16", "f8": "*fp8e4b8", "n": "fp32", "BLOCK": "constexpr"}}"#;
        // (rest of the JSON, kernel, arguments, intermediate code, what is found)
        let cases = [
            (signature, "k", 5, None, Some(format!("x:*f16 f8:*u8 n:f32 {added}"))),
            ("}", "k", 5, Some(CODE), Some(format!("x:*f16 f8:*u8 n:i32 {added}"))),
            ("}", "k", 5, None, Some(String::new())),
            ("}", "k", 2, None, Some(added.to_owned())),
            (signature, "k", 4, None, Some(String::new())),
            ("}", "other", 5, Some(CODE), None),
            ("", "k", 5, Some(CODE), None),
        ];
        for (rest, kernel, count, code, expected) in cases {
            let json = format!("{JSON}{rest}");
            let found = Companion::read(PathBuf::new(), &json, kernel, count, || code.map(str::to_owned));
            assert_eq!(found.as_ref().map(names), expected, "{rest} {kernel} {count}");
            if let Some(found) = found {
                assert_eq!((found.warps, found.lanes, found.shared), (4, 64, 1024));
            }
        }
    }
}
