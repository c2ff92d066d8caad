//! Names of functions: library, operation, type of the elements, form.

use super::element::Type;

/// How many matrices a call is about, and how they are given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Form {
    Single,
    /// Lists of addresses.
    Batched,
    /// Equal distances.
    Strided,
}

/// A function's name, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Name {
    pub(super) is_rocblas: bool,
    pub(super) operation: &'static str,
    /// Type of the elements; `None` where arguments say it.
    pub(super) element: Option<Type>,
    /// The factor is real although the elements are complex.
    pub(super) has_real_factor: bool,
    pub(super) form: Form,
    /// Sizes have 64 bits.
    pub(super) is_wide: bool,
}

/// Operations, longest first where one ends with another.
const OPERATIONS: [&str; 20] = [
    "gemm", "gemv", "geru", "gerc", "ger", "syrk", "herk", "trsm", "geam", "dgmm", "axpy", "scal", "dotu",
    "dotc", "dot", "copy", "swap", "nrm2", "asum", "amax",
];

/// Prefix of an operation, the type it means and whether a factor is real.
const TYPES: [(&str, Type, bool); 13] = [
    ("s", Type::F32, false),
    ("d", Type::F64, false),
    ("c", Type::C32, false),
    ("z", Type::C64, false),
    ("h", Type::F16, false),
    ("bf", Type::Bf16, false),
    ("sc", Type::C32, false),
    ("dz", Type::C64, false),
    ("cs", Type::C32, true),
    ("zd", Type::C64, true),
    ("is", Type::F32, false),
    ("id", Type::F64, false),
    ("ic", Type::C32, false),
];

impl Name {
    /// Reads a name; `None` if it is none of an operation known here.
    pub(super) fn parse(function: &str) -> Option<Name> {
        let (is_rocblas, rest) = match (function.strip_prefix("rocblas_"), function.strip_prefix("hipblas")) {
            (Some(rest), _) => (true, rest.to_owned()),
            (None, Some(rest)) => (false, rest.to_owned()),
            (None, None) => return None,
        };
        let mut rest = rest.as_str();
        let mut cut = |ends: &[&str]| match ends.iter().find_map(|end| rest.strip_suffix(end)) {
            Some(shorter) => {
                rest = shorter;
                true
            }
            None => false,
        };
        let is_wide = cut(&["_64"]);
        // The second version has other types of complex numbers, or numbers of types, with the same values.
        cut(&["_v2"]);
        cut(&["WithFlags"]);
        let says_types = cut(&["_ex", "Ex"]);
        let form = if cut(&["_strided_batched", "StridedBatched"]) {
            Form::Strided
        } else if cut(&["_batched", "Batched"]) {
            Form::Batched
        } else {
            Form::Single
        };
        let stem = rest.to_ascii_lowercase();
        let found = OPERATIONS.iter().chain(&["amin"]).find(|it| stem.ends_with(**it))?;
        let operation: &'static str = found;
        let before = stem.strip_suffix(operation)?;
        let name = |element, has_real_factor| Name {
            is_rocblas,
            operation,
            element,
            has_real_factor,
            form,
            is_wide,
        };
        if says_types {
            let has_types = ["gemm", "axpy", "scal", "dot", "dotc", "nrm2"].contains(&operation);
            return (before.is_empty() && has_types).then(|| name(None, false));
        }
        let is_place = ["amax", "amin"].contains(&operation);
        if is_place != before.starts_with('i') {
            return None;
        }
        if before == "iz" {
            return Some(name(Some(Type::C64), false));
        }
        let (_, element, is_real) = TYPES.iter().find(|it| it.0 == before)?;
        let is_herk = operation == "herk";
        // `sc` and `dz` are sums of sizes, `cs` and `zd` real factors.
        let fits = match before {
            "sc" | "dz" => ["nrm2", "asum"].contains(&operation),
            "cs" | "zd" => operation == "scal",
            _ => true,
        };
        fits.then(|| name(Some(*element), *is_real || is_herk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        let read = |text: &str| {
            Name::parse(text).map(|it| (it.operation, it.element, it.form, it.is_wide, it.has_real_factor))
        };
        use Form::{Batched, Single, Strided};
        for (text, expected) in [
            ("rocblas_sgemm", Some(("gemm", Some(Type::F32), Single, false, false))),
            ("rocblas_zgemm_strided_batched_64", Some(("gemm", Some(Type::C64), Strided, true, false))),
            ("rocblas_gemm_strided_batched_ex", Some(("gemm", None, Strided, false, false))),
            ("rocblas_bfdot_batched", Some(("dot", Some(Type::Bf16), Batched, false, false))),
            ("rocblas_izamax", Some(("amax", Some(Type::C64), Single, false, false))),
            ("rocblas_csscal", Some(("scal", Some(Type::C32), Single, false, true))),
            ("rocblas_scnrm2", Some(("nrm2", Some(Type::C32), Single, false, false))),
            ("hipblasSgemmStridedBatched", Some(("gemm", Some(Type::F32), Strided, false, false))),
            ("hipblasGemmBatchedEx_v2", Some(("gemm", None, Batched, false, false))),
            ("hipblasGemmExWithFlags", Some(("gemm", None, Single, false, false))),
            ("hipblasIdamin_64", Some(("amin", Some(Type::F64), Single, true, false))),
            ("hipblasHaxpy", Some(("axpy", Some(Type::F16), Single, false, false))),
            ("hipblasZherk", Some(("herk", Some(Type::C64), Single, false, true))),
            ("rocblas_strsm", Some(("trsm", Some(Type::F32), Single, false, false))),
            ("rocblas_scgemm", None),
            ("rocblas_trsm_ex", None),
            ("rocblas_samax", None),
            ("rocblas_sgetrf", None),
            ("cublasSgemm", None),
        ] {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}
