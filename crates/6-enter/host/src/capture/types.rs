//! Types of arguments from the demangled name of a kernel: `axpy(int, float const*, float*)`.

use crate::parameters::types_of;
use buffers::Element;

/// Types of C++ and elements.
const TYPES: [(&str, &str); 34] = [
    ("double", "f64"),
    ("float", "f32"),
    ("_Float16", "f16"),
    ("__half", "f16"),
    ("half", "f16"),
    ("__hip_bfloat16", "bf16"),
    ("hip_bfloat16", "bf16"),
    ("__bf16", "bf16"),
    ("bool", "u8"),
    ("char", "i8"),
    ("signed char", "i8"),
    ("unsigned char", "u8"),
    ("short", "i16"),
    ("unsigned short", "u16"),
    ("int", "i32"),
    ("unsigned int", "u32"),
    ("unsigned", "u32"),
    ("uint", "u32"),
    ("long", "i64"),
    ("long long", "i64"),
    ("unsigned long", "u64"),
    ("unsigned long long", "u64"),
    ("int8_t", "i8"),
    ("uint8_t", "u8"),
    ("int16_t", "i16"),
    ("uint16_t", "u16"),
    ("int32_t", "i32"),
    ("uint32_t", "u32"),
    ("int64_t", "i64"),
    ("uint64_t", "u64"),
    ("size_t", "u64"),
    ("std::size_t", "u64"),
    ("c10::Half", "f16"),
    ("c10::BFloat16", "bf16"),
];

/// Name in a launch file of a type of C++.
fn element_name(plain: &str) -> Option<&'static str> {
    TYPES.iter().find(|it| it.0 == plain).map(|it| it.1)
}

/// The element of each argument, or of what it points to, where its type has one. `count` is the number of arguments.
pub(super) fn elements(name: &str, count: usize) -> Vec<Option<Element>> {
    let types = types_of(name).filter(|it| it.len() == count);
    types.map_or_else(|| vec![None; count], |it| it.into_iter().map(element).collect())
}

/// The element of a parameter of this type, or of what it points to.
pub(crate) fn element(parameter: &str) -> Option<Element> {
    let words = parameter.replace(['*', '&'], " ");
    let qualifiers = ["const", "volatile", "__restrict__", "restrict"];
    let words: Vec<&str> = words.split_ascii_whitespace().filter(|it| !qualifiers.contains(it)).collect();
    let plain = words.join(" ");
    // A vector has the elements of its first argument.
    let vector = plain.strip_prefix("HIP_vector_type<").and_then(|it| it.split(',').next());
    // What a pointer to pointers leads to are addresses.
    if parameter.matches('*').count() > 1 {
        return Element::by_name("u64");
    }
    let name = vector.unwrap_or(&plain);
    element_name(name).and_then(Element::by_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_parameters() {
        for (name, count, expected) in [
            ("axpy(int, double const*, float*)", 3, &["i32", "f64", "f32"][..]),
            (
                "void f<int, (char)3>(HIP_vector_type<float, 4u> const*, g<int, 2>*, _Float16**)",
                3,
                &["f32", "-", "u64"],
            ),
            ("axpy(int, double const*)", 3, &["-", "-", "-"]),
            ("void f<a>(float (*)(int), unsigned long long*)", 2, &["-", "u64"]),
            ("triton_kernel", 1, &["-"]),
            ("f()", 1, &["-"]),
            ("f(int __restrict__*, )", 2, &["i32", "-"]),
            ("f)", 0, &[]),
        ] {
            let found: Vec<&str> =
                elements(name, count).iter().map(|it| it.map_or("-", Element::name)).collect();
            assert_eq!(found, expected, "{name}");
        }
    }
}
