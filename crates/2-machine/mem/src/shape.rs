//! Sizes and policies of a GPU's caches.
//!
//! All values come from `arch`; no other module of the crate sees a GPU model.

use arch::{MemoryType, Model};

/// Sizes and policies of a GPU's caches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shape {
    /// XCDs.
    pub xcds: usize,
    /// Compute units of each shader engine of an XCD.
    pub engines: Vec<usize>,
    /// Compute units that share a scalar and an instruction cache.
    pub sharing: usize,
    /// Line of the vector L1, bytes.
    pub l1_line: u64,
    /// Sets and ways of the vector L1.
    pub l1: (usize, usize),
    /// Bytes of a write request to the L2.
    pub l1_write: u64,
    /// Stores allocate in the vector L1.
    pub store_allocates: bool,
    /// Bytes of a translation.
    pub fragment: u64,
    /// Bytes of a translation in pages of the host's kernel.
    pub small_page: u64,
    /// Translations a compute unit keeps; `None` if unknown.
    pub translations: Option<usize>,
    /// Translations an XCD keeps.
    pub xcd_translations: usize,
    /// Look-ups behind a translation miss that are not counted.
    pub translation_pending: u32,
    /// Line of the scalar cache, bytes.
    pub scalar_line: u64,
    /// Sets and ways of the scalar cache.
    pub scalar: (usize, usize),
    /// Requests that can wait for a line of the scalar cache.
    pub scalar_waiting: u32,
    /// Sets and ways of the instruction cache.
    pub code: (usize, usize),
    /// Line of the instruction cache, bytes.
    pub code_line: u64,
    /// Bytes of a request of the instruction cache.
    pub code_request: u64,
    /// Bytes prefetched beyond the last instruction.
    pub code_ahead: u64,
    /// The instruction cache keeps lines between dispatches.
    pub code_kept: bool,
    /// L2 channels of an XCD.
    pub channels: usize,
    /// Consecutive bytes in a channel.
    pub interleave: u64,
    /// Low address bits that enter the channel hash.
    pub hashed_bits: u32,
    /// Lines are spread over the sets of an L2 channel as if by chance.
    pub scattered: bool,
    /// Line of the L2, bytes.
    pub l2_line: u64,
    /// Sets and ways of an L2 channel.
    pub l2: (usize, usize),
    /// Consecutive reads of an access in one L2 line merge.
    pub merges_reads: bool,
    /// Most bytes of a read from memory.
    pub fabric_read: u64,
    /// Fewest bytes of a cached read from memory.
    pub fabric_read_least: u64,
    /// Most bytes of a write to memory.
    pub fabric_write: u64,
    /// Bytes of a sector.
    pub sector: u64,
    /// Memory type of kernel arguments and packets.
    pub arguments: MemoryType,
    /// Most recently used lines of an L2 set that may be dirty.
    pub dirty_lines: u32,
    /// The L2 writes back dirty lines at the end of a dispatch.
    pub written_back: bool,
    /// Caches that keep lines between dispatches: L1, translation, scalar, L2.
    pub kept: [bool; 4],
}

impl Shape {
    /// Caches of a GPU model.
    pub fn of(model: &Model) -> Shape {
        let target = model.target();
        let (l1, l2) = (&target.vector_l1, &target.l2);
        let (scalar, code, translation) =
            (&target.scalar_cache, &target.instruction_cache, &target.translation);
        let xcds = model.xcds.value.max(1);
        let engines = (model.shader_engines.value / xcds).max(1);
        let units = model.compute_units_per_xcd();
        let sets = |bytes: u32, line: u32, ways: u32| -> (usize, usize) {
            ((bytes / (line * ways).max(1)).max(1) as usize, ways as usize)
        };
        let channels = l2.channels_per_xcd.value.max(1);
        Shape {
            xcds: xcds as usize,
            // Disabled compute units are spread over the engines.
            engines: (0..engines)
                .map(|number| (units / engines + u32::from(number < units % engines)) as usize)
                .collect(),
            sharing: scalar.compute_units.value.max(1) as usize,
            l1_line: u64::from(l1.line_bytes.value),
            l1: sets(l1.bytes.value, l1.line_bytes.value, l1.ways.value),
            l1_write: u64::from(l1.write_bytes.value),
            store_allocates: l1.store_allocates.value,
            fragment: u64::from(translation.fragment_bytes.value),
            small_page: u64::from(translation.small_page_bytes.value),
            xcd_translations: translation.l2_entries.value as usize,
            translations: translation.l1_entries.value().map(|entries| entries as usize),
            translation_pending: translation.l1_pending.value,
            scalar_line: u64::from(scalar.line_bytes.value),
            scalar: sets(scalar.bytes.value, scalar.line_bytes.value, scalar.ways.value),
            scalar_waiting: scalar.waiting.value,
            code: sets(code.bytes.value, code.line_bytes.value, code.ways.value),
            code_line: u64::from(code.line_bytes.value),
            code_request: u64::from(code.request_bytes.value),
            code_ahead: u64::from(code.ahead_bytes.value),
            code_kept: code.kept.value,
            channels: channels as usize,
            interleave: u64::from(l2.interleave_bytes.value),
            scattered: l2.scattered.value,
            hashed_bits: l2.channel_hash_bits.value,
            l2_line: u64::from(l2.line_bytes.value),
            l2: sets(l2.bytes_per_xcd.value / channels, l2.line_bytes.value, l2.ways.value),
            merges_reads: l2.merges_reads.value,
            fabric_read: u64::from(l2.fabric_read_bytes.value),
            fabric_read_least: u64::from(l2.fabric_read_least_bytes.value),
            fabric_write: u64::from(l2.fabric_write_bytes.value),
            sector: u64::from(l2.sector_bytes.value),
            arguments: l2.arguments_memory.value,
            dirty_lines: l2.dirty_lines.value,
            written_back: l2.written_back.value,
            kept: [l1.kept.value, translation.kept.value, scalar.kept.value, l2.kept.value],
        }
    }

    /// Scalar caches of an XCD.
    pub fn scalar_caches(&self) -> usize {
        self.engines.iter().map(|units| units.div_ceil(self.sharing)).sum()
    }

    /// Compute units of an XCD.
    pub fn compute_units(&self) -> usize {
        self.engines.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sets16;

    #[test]
    fn every_model_has_powers_of_two_where_they_are_needed() {
        for name in Model::names() {
            let model = Model::by_name(name).unwrap();
            let shape = Shape::of(model);
            assert_eq!(shape.compute_units() * shape.xcds, model.compute_units.value as usize, "{name}");
            for value in [shape.l1_line, shape.scalar_line, shape.l2_line, shape.interleave, shape.sector] {
                assert!(value.is_power_of_two(), "{name} {value}");
            }
            for value in [shape.l1.0, shape.scalar.0, shape.code.0, shape.l2.0, shape.l2.1, shape.channels] {
                assert!(value.is_power_of_two(), "{name} {value}");
            }
            assert!(shape.l1_line <= shape.l2_line && shape.l2_line / shape.sector <= 8, "{name}");
            assert!(shape.l2.1 == sets16::WAYS && (1..=16).contains(&shape.dirty_lines), "{name}");
        }
        let shape = Shape::of(Model::by_name("mi300x").unwrap());
        assert_eq!((shape.engines, shape.l1, shape.l2), (vec![10, 10, 9, 9], (4, 64), (128, 16)));
    }
}
