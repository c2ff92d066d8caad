//! Targets as text (`gfx90a:sramecc+:xnack-`) and as ELF flags.
//!
//! A target is spelled in four ways, in bundle entries, assembly directives, metadata and ELF flags; all
//! become one [`Target`]. Source: the AMDGPU back-end user guide, "Target ID" and "ELF Code Object".

use std::fmt;

use crate::{Feature, Target};

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, state) in [("sramecc", self.sramecc), ("xnack", self.xnack)] {
            match state {
                Feature::On => write!(f, ":{name}+")?,
                Feature::Off => write!(f, ":{name}-")?,
                Feature::Any | Feature::Unspecified => {}
            }
        }
        Ok(())
    }
}

impl Target {
    /// Reads a target id: a processor, then `:feature+` or `:feature-`. Anything before the processor, such
    /// as `hipv4-amdgcn-amd-amdhsa--`, is skipped. `None` for targets of other vendors.
    pub fn parse(text: &str) -> Option<Target> {
        let (head, features) = match text.find(':') {
            Some(at) => (&text[..at], &text[at + 1..]),
            None => (text, ""),
        };
        let start = if head.starts_with("gfx") { 0 } else { head.find("-gfx")? + 1 };
        if start > 0 && !head[..start].contains("amdgcn") {
            return None;
        }
        let mut target = Target { processor: head[start..].to_owned(), ..Target::default() };
        for feature in features.split(':').filter(|feature| !feature.is_empty()) {
            let state = match feature.as_bytes().last() {
                Some(b'+') => Feature::On,
                Some(b'-') => Feature::Off,
                _ => continue,
            };
            match &feature[..feature.len() - 1] {
                "xnack" => target.xnack = state,
                "sramecc" | "sram-ecc" => target.sramecc = state,
                _ => {}
            }
        }
        Some(target)
    }

    /// Decodes the ELF header's flags. `abi` is the header's ABI version: 1 for code-object version 3 and so
    /// on.
    pub(crate) fn from_elf_flags(flags: u32, abi: u8) -> Target {
        let machine = flags as u8;
        let processor = match arch::elf_processor(machine) {
            Some(name) => name.to_owned(),
            None => format!("unknown-{machine:#x}"),
        };
        let (xnack, sramecc) = match abi {
            // Version 2 says in a note which features are on.
            0 => (Feature::Unspecified, Feature::Unspecified),
            1 => (on_if(flags & 0x100 != 0), on_if(flags & 0x200 != 0)),
            _ => (four_states(flags >> 8), four_states(flags >> 10)),
        };
        Target { processor, xnack, sramecc }
    }

    /// The target of code-object version 2, which numbers processors and gives those that replay page faults
    /// the next odd stepping.
    pub(crate) fn from_version(major: u32, minor: u32, stepping: u32) -> Option<Target> {
        if major > 99 || minor > 15 || stepping > 15 {
            return None;
        }
        let doubled = major == 9 && minor == 0 && stepping <= 7;
        let xnack = match (doubled, stepping % 2) {
            (false, _) => Feature::Unspecified,
            (true, 0) => Feature::Off,
            (true, _) => Feature::On,
        };
        let stepping = if doubled { stepping & !1 } else { stepping };
        Some(Target {
            processor: format!("gfx{major}{minor:x}{stepping:x}"),
            xnack,
            sramecc: Feature::Unspecified,
        })
    }

    /// Whether code for this target runs on the wanted one; features given there must match those that are
    /// fixed.
    pub fn matches(&self, wanted: &Target) -> bool {
        fn agree(have: Feature, want: Feature) -> bool {
            match want {
                Feature::On => have != Feature::Off,
                Feature::Off => have != Feature::On,
                Feature::Any | Feature::Unspecified => true,
            }
        }
        arch::code_runs_on(&self.processor, &wanted.processor)
            && agree(self.xnack, wanted.xnack)
            && agree(self.sramecc, wanted.sramecc)
    }
}

/// Old flags have one bit per feature, which is also clear on GPUs without the feature.
fn on_if(on: bool) -> Feature {
    if on { Feature::On } else { Feature::Unspecified }
}

fn four_states(bits: u32) -> Feature {
    match bits & 3 {
        0 => Feature::Unspecified,
        1 => Feature::Any,
        2 => Feature::Off,
        _ => Feature::On,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts() {
        let cases = [
            ("gfx942", Some("gfx942")),
            ("hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-", Some("gfx90a:xnack-")),
            ("hip-amdgcn-amd-amdhsa-gfx908:sramecc+:xnack-", Some("gfx908:sramecc+:xnack-")),
            ("amdgcn-amd-amdhsa--gfx9-4-generic:xnack+", Some("gfx9-4-generic:xnack+")),
            ("hipv4-amdgcn-amd-amdhsa--gfx906:sramecc-", Some("gfx906:sramecc-")),
            ("amdgcn-amd-amdhsa--gfx906:xnack", Some("gfx906")),
            ("host-x86_64-unknown-linux-gnu-", None),
            ("openmp-nvptx64-nvidia-cuda-sm_80", None),
            ("hip-spirv64-amd-amdhsa--amdgcnspirv", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(Target::parse(text).map(|t| t.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn flags() {
        use Feature::{Any, Off, On, Unspecified};
        let cases = [
            (0x34c, 4, "gfx942", On, Unspecified),
            (0x54c, 3, "gfx942", Any, Any),
            (0xa3f, 3, "gfx90a", Off, Off),
            (0x33f, 1, "gfx90a", On, On),
            (0x030, 1, "gfx908", Unspecified, Unspecified),
            (0x02d, 0, "gfx902", Unspecified, Unspecified),
            (0x0fe, 3, "unknown-0xfe", Unspecified, Unspecified),
        ];
        for (flags, abi, processor, xnack, sramecc) in cases {
            let expected = Target { processor: processor.into(), xnack, sramecc };
            assert_eq!(Target::from_elf_flags(flags, abi), expected, "{flags:#x}");
        }
    }

    #[test]
    fn numbers() {
        let cases = [
            ((9, 0, 0), Some("gfx900:xnack-")),
            ((9, 0, 1), Some("gfx900:xnack+")),
            ((9, 0, 6), Some("gfx906:xnack-")),
            ((9, 0, 10), Some("gfx90a")),
            ((8, 0, 3), Some("gfx803")),
            ((10, 3, 0), Some("gfx1030")),
            ((u32::MAX, 0, 0), None),
        ];
        for ((major, minor, stepping), expected) in cases {
            let target = Target::from_version(major, minor, stepping);
            assert_eq!(target.map(|target| target.to_string()).as_deref(), expected);
        }
    }
}
