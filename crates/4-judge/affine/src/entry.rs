//! Initial register values of a kernel.
//!
//! A one-dimensional workgroup gives lane `l` of wave `w` the work-item `l + 64*w`, so work-item ids are
//! known per lane up to the wave.

use super::value::{Id, LANES, Marks, Pool, Symbol};

/// Entry state of a kernel: the initialised registers and the known facts about the workgroup.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Entry {
    /// SGPRs set before the workgroup ids.
    pub user_sgprs: u16,
    /// First SGPR of the kernel-argument pointer.
    pub kernarg: Option<u16>,
    /// First SGPR of the dispatch-packet pointer.
    pub dispatch: Option<u16>,
    /// Workgroup ids given in SGPRs, in order.
    pub workgroup_ids: u16,
    /// Work-item id dimensions given, 1 to 3.
    pub dimensions: u8,
    /// All dimensions share `v0`, ten bits each.
    pub packed: bool,
    /// Workgroup size, when the kernel can only be launched with it.
    pub workgroup: Option<[u32; 3]>,
    /// Largest workgroup.
    pub max_workgroup: u32,
    /// Byte offsets within the arguments that hold sizes of grid or workgroup.
    pub sizes: Vec<(u32, u32)>,
    /// Byte offset within the arguments of the workgroup's size in x, which that in y follows, two bytes
    /// each.
    pub workgroup_sizes: Option<u32>,
}

/// Offset of the workgroup sizes within the dispatch packet.
pub(super) const PACKET_WORKGROUP_SIZES: u32 = 4;

impl Entry {
    /// Entry state of `kernel`. `packed`: the target packs work-item ids into one register.
    pub fn of(kernel: &codeobj::Kernel, packed: bool) -> Entry {
        let mut entry = Entry {
            dimensions: 3,
            packed,
            workgroup: kernel.metadata.required_workgroup,
            max_workgroup: kernel.metadata.max_workgroup.unwrap_or(1024),
            ..Entry::default()
        };
        if let Some(waves) = kernel.metadata.launch_waves {
            entry.max_workgroup = entry.max_workgroup.min(waves.saturating_mul(LANES as u32));
        }
        if let Some(descriptor) = &kernel.descriptor {
            entry.user_sgprs = u16::from(descriptor.user_sgprs);
            entry.workgroup_ids = (descriptor.workgroup_id_mask & 7).count_ones() as u16;
            entry.dimensions = descriptor.workitem_id_dims;
            // Pointers follow the order of the property bits: segment buffer, dispatch, queue, arguments.
            let mut next = 0;
            for (bit, registers) in [(0, 4), (1, 2), (2, 2), (3, 2)] {
                if descriptor.properties & (1 << bit) == 0 {
                    continue;
                }
                match bit {
                    1 => entry.dispatch = Some(next),
                    3 => entry.kernarg = Some(next),
                    _ => {}
                }
                next += registers;
            }
        }
        let sizes = ["hidden_block_count_", "hidden_group_size_", "hidden_remainder_", "hidden_global_size_"];
        let arguments = kernel.metadata.arguments.iter();
        entry.sizes = arguments
            .filter(|argument| sizes.iter().any(|size| argument.kind.starts_with(size)))
            .map(|argument| (argument.offset, argument.offset.saturating_add(argument.size)))
            .collect();
        let size_x = |argument: &&codeobj::Argument| argument.kind == "hidden_group_size_x";
        entry.workgroup_sizes = kernel.metadata.arguments.iter().find(size_x).map(|argument| argument.offset);
        entry
    }

    /// The same entry state with a known workgroup size.
    pub fn with_workgroup(&self, size: [u32; 3]) -> Entry {
        Entry { workgroup: Some(size), ..self.clone() }
    }

    /// The dimensions tell how lanes and work-items belong together.
    pub fn tells_shape(&self) -> bool {
        self.workgroup.is_some() || self.dimensions <= 1
    }

    /// The word with the workgroup's size in x and y, if known.
    pub(super) fn workgroup_word(&self) -> Option<u32> {
        self.workgroup.map(|[x, y, _]| x & 0xffff | y << 16)
    }

    /// Origins of a load at `offset` of the arguments.
    pub(super) fn marks_of_argument(&self, offset: u32) -> Marks {
        let size = self.sizes.iter().any(|(from, to)| (*from..*to).contains(&offset));
        Marks { grid: size, argument: !size, ..Marks::default() }
    }

    /// The ids x, y, z of the work-item; `None` if they are unknown.
    fn ids(&self, pool: &mut Pool) -> [Option<Id>; 3] {
        let unknown = [None; 3];
        let wave = |pool: &mut Pool, count: u32| {
            if count <= 1 {
                return pool.constant(0);
            }
            pool.unknown(Symbol {
                varying: false,
                max: Some(count - 1),
                changes_in: None,
                marks: Marks::default(),
            })
        };
        let [x, y, z] = match self.workgroup {
            Some(size) => size.map(|n| n.clamp(1, 1024)),
            None if self.dimensions <= 1 => [self.max_workgroup.clamp(1, 1024), 1, 1],
            None => return unknown,
        };
        let lanes = LANES as u32;
        let zero = pool.constant(0);
        if y * z == 1 {
            let w = wave(pool, x.div_ceil(lanes));
            let lane = pool.linear(0, 1);
            let id = pool.scale(w, lanes).and_then(|base| pool.add(lane, base));
            return [id, Some(zero), Some(zero)];
        }
        if x * y * z <= lanes {
            let at = |divide: u32, modulo: u32| std::array::from_fn(|l| l as u32 / divide % modulo);
            return [pool.table(at(1, x)), pool.table(at(x, y)), pool.table(at(x * y, z.max(lanes)))];
        }
        if x.is_multiple_of(lanes) {
            // A wave does not cross a row.
            let w = wave(pool, x / lanes);
            let lane = pool.linear(0, 1);
            let id = pool.scale(w, lanes).and_then(|base| pool.add(lane, base));
            return [id, Some(wave(pool, y)), Some(wave(pool, z))];
        }
        if lanes.is_multiple_of(x) && z == 1 {
            // A wave holds whole rows.
            let rows = lanes / x;
            let w = wave(pool, y.div_ceil(rows));
            let id_x = pool.table(std::array::from_fn(|l| l as u32 % x));
            let row = pool.table(std::array::from_fn(|l| l as u32 / x));
            let id_y = match (row, pool.scale(w, rows)) {
                (Some(row), Some(base)) => pool.add(row, base),
                _ => None,
            };
            return [id_x, id_y, Some(zero)];
        }
        unknown
    }

    /// Values of the first VGPRs.
    pub(super) fn vgprs(&self, pool: &mut Pool) -> Vec<Option<Id>> {
        let ids = self.ids(pool);
        let given = usize::from(self.dimensions.clamp(1, 3));
        if !self.packed {
            return ids[..given].to_vec();
        }
        let mut packed = ids[0];
        for (id, shift) in ids[..given].iter().zip([0, 10, 20]).skip(1) {
            packed = match (packed, *id) {
                (Some(sum), Some(id)) => pool.scale(id, 1 << shift).and_then(|part| pool.add(sum, part)),
                _ => None,
            };
        }
        vec![packed]
    }
}
