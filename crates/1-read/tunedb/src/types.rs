//! Element types of inputs as the libraries write them.

use arch::ElementType;

/// Element type of the inputs; `None` if the name is unknown.
///
/// In a list of types the first counts; of two inputs of different width the wider one counts, since it sets
/// the rate.
pub fn element(types: &str) -> Option<ElementType> {
    types.split([' ', ',', '/', ';']).filter(|part| !part.is_empty()).take(2).filter_map(one).max()
}

fn one(name: &str) -> Option<ElementType> {
    // Letters of BLAS, and Tensile's numbers.
    Some(match name {
        "h" | "H" | "4" => ElementType::F16,
        "b" | "B" | "7" => ElementType::Bf16,
        "s" | "S" | "0" => ElementType::F32,
        "d" | "D" | "1" => ElementType::F64,
        _ => return ElementType::by_name(name).filter(|it| ElementType::FACTORS.contains(it)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_every_library() {
        for (types, expected) in [
            ("Half", Some(ElementType::F16)),
            ("Float8_e4m3fn_Float8_e4m3fn_BFloat16", Some(ElementType::F8)),
            ("tf32", Some(ElementType::Xf32)),
            ("torch.bfloat16", Some(ElementType::Bf16)),
            ("f16_r/f8_r", Some(ElementType::F16)),
            ("torch.float8_e4m3fn,torch.float4_e2m1fn_x2", Some(ElementType::F8)),
            ("torch.int8", Some(ElementType::I8)),
            ("f16", Some(ElementType::F16)),
            ("f8", Some(ElementType::F8)),
            ("c10::complex<float>", None),
        ] {
            assert_eq!(element(types), expected, "{types}");
        }
    }
}
