//! Names of element types in every library, as the names `arch` has rates for.

/// Element type of the inputs as `f16`, `bf16`, `f8`, `f4`, `i8`, `f32`, `xf32`, `f64`; `None` if the name is
/// unknown.
///
/// In a list of types the first counts; of two inputs of different width the wider one counts, since it sets
/// the rate.
pub fn element(types: &str) -> Option<&'static str> {
    let mut found: Vec<&'static str> = Vec::new();
    for part in types.split([' ', ',', '/', ';']).filter(|part| !part.is_empty()).take(2) {
        found.extend(one(part));
    }
    let rank = |it: &&&str| RANKS.iter().position(|name| *name == **it);
    found.iter().max_by_key(rank).copied()
}

/// Narrow to wide.
const RANKS: [&str; 8] = ["f4", "f8", "i8", "bf16", "f16", "xf32", "f32", "f64"];

fn one(name: &str) -> Option<&'static str> {
    let name = name.strip_prefix("torch.").unwrap_or(name);
    Some(match name {
        "f16" | "Half" | "float16" | "f16_r" | "half" | "FP16" | "h" | "H" | "4" => "f16",
        "BFloat16" | "bfloat16" | "bf16_r" | "bf16" | "BF16" | "BFP16" | "b" | "B" | "7" => "bf16",
        "xf32" | "tf32" | "xf32_r" => "xf32",
        "f32" | "float" | "float32" | "f32_r" | "FP32" | "s" | "S" | "0" => "f32",
        "f64" | "double" | "float64" | "f64_r" | "d" | "D" | "1" => "f64",
        "i8" | "i8_r" | "int8" | "INT8" => "i8",
        "f4" | "a4w4" | "float4_e2m1fn_x2" => "f4",
        "f8" | "a8w8" | "f8_r" | "bf8_r" | "FP8" => "f8",
        _ if name.starts_with("Float8") || name.starts_with("float8") => "f8",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_library() {
        for (types, expected) in [
            ("Half", Some("f16")),
            ("Float8_e4m3fn_Float8_e4m3fn_BFloat16", Some("f8")),
            ("tf32", Some("xf32")),
            ("torch.bfloat16", Some("bf16")),
            ("f16_r/f8_r", Some("f16")),
            ("torch.float8_e4m3fn,torch.float4_e2m1fn_x2", Some("f8")),
            ("torch.int8", Some("i8")),
            ("f16", Some("f16")),
            ("f8", Some("f8")),
            ("c10::complex<float>", None),
        ] {
            assert_eq!(element(types), expected, "{types}");
        }
    }
}
