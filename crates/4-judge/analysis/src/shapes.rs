//! Addresses in workgroups of usual shapes, for kernels whose shape the code object does not tell.
//!
//! Every assumption is stated. A rule that uses these names the shape and its consequences.

use affine::Addresses;

/// Addresses in workgroups of one shape.
pub struct Shaped {
    /// The shape, or several whose waves hold the same work-items: `64x1 and 256x1`.
    pub shape: &'static str,
    /// Addresses of the memory instructions with this shape.
    pub addresses: Addresses,
}

/// Shapes that kernels of two dimensions are started with.
const USUAL: [(&str, [u32; 3]); 4] =
    [("64x1 and 256x1", [256, 1, 1]), ("32x8", [32, 8, 1]), ("16x16", [16, 16, 1]), ("8x8", [8, 8, 1])];
/// Usual shapes for kernels that allow one wave only.
const ONE_WAVE: [(&str, [u32; 3]); 3] = [("64x1", [64, 1, 1]), ("16x4", [16, 4, 1]), ("8x8", [8, 8, 1])];

/// The usual shapes of workgroups of at most `max_workgroup` work-items.
pub(crate) fn usual(max_workgroup: u32) -> &'static [(&'static str, [u32; 3])] {
    match max_workgroup {
        256.. => &USUAL,
        64.. => &ONE_WAVE,
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_fit() {
        for most in [1, 63, 64, 128, 255, 256, 1024] {
            for (name, size) in usual(most) {
                let items: u32 = size.iter().product();
                assert!(items <= most, "{name} of {most}");
                assert!(name.ends_with(&format!("{}x{}", size[0], size[1])), "{name}");
            }
        }
    }
}
