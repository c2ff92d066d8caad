//! The kernels as code objects.

use crate::error::Error;
use arch::Model;

/// Code objects by generation.
const KERNELS: &[(&str, &[u8])] = &[
    ("CDNA 1", include_bytes!("../kernels/peaks.cdna1.hsaco")),
    ("CDNA 2", include_bytes!("../kernels/peaks.cdna2.hsaco")),
    ("CDNA 3", include_bytes!("../kernels/peaks.cdna3.hsaco")),
    ("CDNA 4", include_bytes!("../kernels/peaks.cdna4.hsaco")),
];

/// The code object with the kernels for a GPU.
///
/// # Errors
/// A GPU without kernels.
pub fn kernels(model: &Model) -> Result<&'static [u8], Error> {
    let target = model.target();
    let known = || KERNELS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = KERNELS.iter().find(|(name, _)| *name == target.generation);
    found.map(|(_, bytes)| *bytes).ok_or_else(|| Error::NoKernels { target: target.name, known: known() })
}
