//! Whether a kernel was compiled or written in assembly.
//!
//! A compiler writes facts into the metadata that an assembler does not know, so their absence is the sign.
//! Generators that copy the compiler's metadata are known by the names of their kernels.

use crate::{CodeObject, Kernel};

/// Generators of assembly whose metadata has spill counts: what their kernels' names begin with.
const GENERATORS: [(&str, &str); 2] = [("Cijk_", "Tensile"), ("Custom_Cijk_", "Tensile")];

impl CodeObject {
    /// The sign that a kernel was written in assembly, by hand or by a generator, as a phrase; `None` where
    /// it was compiled or nothing tells.
    ///
    /// From code-object version 3 on every compiler writes both spill counts, also where they are 0. Those
    /// that know accumulation registers write their number too, and later ones whether the stack is dynamic.
    pub fn assembly_sign(&self, kernel: &Kernel) -> Option<String> {
        let metadata = &kernel.metadata;
        if self.version < 3 || metadata.vgprs.is_none() {
            return None;
        }
        if metadata.vgpr_spills.is_none() && metadata.sgpr_spills.is_none() {
            return Some("the metadata has no spill counts, which every compiler writes".to_owned());
        }
        if metadata.agprs.is_some() || metadata.dynamic_stack.is_some() {
            return None;
        }
        let (prefix, generator) = GENERATORS.iter().find(|(prefix, _)| kernel.name.starts_with(prefix))?;
        Some(format!(
            "its name begins with `{prefix}`, as {generator}'s do, and its metadata has no AGPR count"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Metadata, Target};

    fn sign(version: u8, name: &str, metadata: Metadata) -> Option<String> {
        let kernel = Kernel {
            name: name.to_owned(),
            demangled: name.to_owned(),
            body: Body::Absent,
            descriptor: None,
            metadata,
        };
        let object = CodeObject {
            origin: String::new(),
            target: Target::default(),
            version,
            lines: 0..0,
            kernels: Vec::new(),
            functions: Vec::new(),
            formats: Vec::new(),
            warnings: Vec::new(),
        };
        object.assembly_sign(&kernel)
    }

    #[test]
    fn compilers_write_spill_counts() {
        let assembly = Metadata { vgprs: Some(128), sgprs: Some(96), ..Metadata::default() };
        let compiled = Metadata { vgpr_spills: Some(0), sgpr_spills: Some(0), ..assembly.clone() };
        let newer = Metadata { agprs: Some(0), dynamic_stack: Some(false), ..compiled.clone() };
        // Version, name, metadata, written in assembly.
        for (version, name, metadata, expected) in [
            (5, "fmha", &assembly, true),
            (3, "fmha", &assembly, true),
            // Version 2 leaves counts of 0 out, whoever wrote it.
            (2, "fmha", &assembly, false),
            (5, "fmha", &compiled, false),
            (5, "Cijk_Ailk_Bljk_SB", &compiled, true),
            // Its kernels in HIP are compiled.
            (5, "Cijk_Ailk_Bljk_SB", &newer, false),
            (5, "fmha", &Metadata::default(), false),
        ] {
            let found = sign(version, name, metadata.clone());
            assert_eq!(found.is_some(), expected, "{version} {name} {metadata:?}: {found:?}");
        }
    }
}
