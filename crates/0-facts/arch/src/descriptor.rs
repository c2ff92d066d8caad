//! How kernel descriptors count registers, for every AMD GPU that can appear in a file.
//!
//! A descriptor counts registers in granules, and the size of a granule depends on the group of GPUs. Source:
//! the AMDGPU back-end user guide, section "Kernel Descriptor".

/// A group of GPUs whose kernel descriptors count registers alike.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DescriptorFamily {
    /// Steps of 4 VGPRs and 8 SGPRs.
    Gfx6To8,
    /// Steps of 4 VGPRs and 16 SGPRs.
    Gfx9,
    /// Steps of 8 VGPRs with AGPRs in the same file, and 16 SGPRs.
    Gfx90a,
    /// Steps of 8 VGPRs for 32 lanes and 4 for 64; SGPRs are not allocated.
    Gfx10AndLater,
    /// Steps of 16 VGPRs for 32 lanes; SGPRs are not allocated.
    Gfx1250,
}

impl DescriptorFamily {
    /// The family of a processor by its name; `None` for a name outside the tables.
    pub fn of(processor: &str) -> Option<Self> {
        let number = processor.strip_prefix("gfx")?;
        Some(match number {
            "90a" | "940" | "941" | "942" | "950" | "9-4-generic" => Self::Gfx90a,
            "1250" | "1251" => Self::Gfx1250,
            _ if number.starts_with('1') => Self::Gfx10AndLater,
            _ if number.starts_with('9') => Self::Gfx9,
            _ if number.starts_with(['6', '7', '8']) => Self::Gfx6To8,
            _ => return None,
        })
    }

    /// VGPRs per step of the granulated count.
    pub const fn vgpr_step(self, wave32: bool) -> u32 {
        match (self, wave32) {
            (Self::Gfx6To8 | Self::Gfx9, _) => 4,
            (Self::Gfx90a, _) => 8,
            (Self::Gfx10AndLater, true) => 8,
            (Self::Gfx10AndLater, false) => 4,
            (Self::Gfx1250, _) => 16,
        }
    }

    /// SGPRs allocated at a time; `None` where each wave always has all of them.
    pub const fn sgpr_step(self) -> Option<u32> {
        match self {
            Self::Gfx6To8 => Some(8),
            Self::Gfx9 | Self::Gfx90a => Some(16),
            Self::Gfx10AndLater | Self::Gfx1250 => None,
        }
    }

    /// Whether `compute_pgm_rsrc3` holds the offset of the first AGPR.
    pub const fn has_accum_offset(self) -> bool {
        matches!(self, Self::Gfx90a)
    }

    /// Whether descriptors may ask for waves of 32 lanes.
    pub const fn has_wave32(self) -> bool {
        matches!(self, Self::Gfx10AndLater | Self::Gfx1250)
    }

    /// Whether the processor can replay instructions after page faults (xnack), on gfx6 to gfx9.
    pub fn has_xnack(self, processor: &str) -> bool {
        matches!(self, Self::Gfx9 | Self::Gfx90a) || matches!(processor, "gfx801" | "gfx810")
    }

    /// SGPRs that a wave needs beyond those the program names: VCC, and from the third generation on the
    /// replay mask and the address of flat scratch, whose registers are adjacent.
    pub fn extra_sgprs(self, processor: &str, vcc: bool, flat_scratch: bool, xnack: bool) -> u32 {
        let before_gfx8 = processor.starts_with("gfx6") || processor.starts_with("gfx7");
        if self.sgpr_step().is_none() {
            return 0;
        }
        match () {
            // The hardware sets up flat scratch in dedicated registers, but SGPRs are reserved all the same.
            () if has_architected_flat_scratch(processor) => 6,
            () if flat_scratch && before_gfx8 => 4,
            () if flat_scratch => 6,
            () if xnack && !before_gfx8 => 4,
            () if vcc => 2,
            () => 0,
        }
    }
}

fn has_architected_flat_scratch(processor: &str) -> bool {
    matches!(processor, "gfx940" | "gfx941" | "gfx942" | "gfx950" | "gfx9-4-generic")
}
