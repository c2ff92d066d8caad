//! Kernels that the OpenMP offload runtime names beside an error.
//!
//! Source: LLVM `offload/plugins-nextgen/common/include/ErrorReporting.h`.

use super::count;

/// A target region: `Kernel 'omp target in main @ 44 (__omp_offloading_fc00_5a0a050_main_l44)'`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetRegion {
    /// Line, 1-based.
    pub line: u32,
    /// Function that has the region.
    pub function: String,
    /// Source line of the region.
    pub source_line: Option<u32>,
    /// Kernel, for the linker.
    pub kernel: String,
}

/// Regions that a text names, in order.
pub(super) fn read(lines: &[&str]) -> Vec<TargetRegion> {
    lines.iter().enumerate().filter_map(|(at, line)| region(line, count(at + 1))).collect()
}

fn region(text: &str, line: u32) -> Option<TargetRegion> {
    let (_, rest) = text.split_once("'omp target in ")?;
    let rest = rest.split_once(")'").map_or(rest, |(it, _)| it);
    let (place, kernel) = rest.rsplit_once(" (")?;
    let (function, number) = place.rsplit_once(" @ ").unwrap_or((place, ""));
    let of_name = || kernel.rsplit_once("_l").and_then(|(_, it)| it.parse().ok());
    Some(TargetRegion {
        line,
        function: function.to_owned(),
        source_line: number.trim().parse().ok().or_else(of_name),
        kernel: kernel.trim_end_matches([')', '\'']).to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_named_with_their_line() {
        for (text, function, source_line, kernel) in [
            (
                "Kernel 'omp target in halo @ 7 (__omp_offloading_8_2b__halo_l7)'",
                "halo",
                Some(7),
                "__omp_offloading_8_2b__halo_l7",
            ),
            (
                "Kernel 2: 'omp target in halo (__omp_offloading_8_2b__halo_l12)'",
                "halo",
                Some(12),
                "__omp_offloading_8_2b__halo_l12",
            ),
            ("'omp target in f @ x (k)'", "f", None, "k"),
        ] {
            let expected = TargetRegion {
                line: 1,
                function: function.to_owned(),
                source_line,
                kernel: kernel.to_owned(),
            };
            assert_eq!(read(&[text]), [expected], "{text}");
        }
        assert!(read(&["'omp target in f", "omp target in f (k)"]).is_empty());
    }
}
