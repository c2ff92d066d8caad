//! Layouts as linear maps: the element of each register of each lane of each wave, as an exclusive or of
//! coordinates, one per bit of their numbers.
//!
//! Every layout of a tensor in registers has this form, so two of them can be compared: what a conversion
//! moves, how many neighbours a lane has, which lanes hold copies.

use crate::layout::{Bases, Layout};

/// Maximum number of dimensions.
const MOST_DIMENSIONS: usize = 8;
/// Longest extent, as a power of two.
const MOST_BITS: u32 = 30;

/// The linear form of a layout for a tensor of this shape. `None` for unsupported kinds (buffers, other
/// vendors' matrix instructions) and for shapes that are not powers of two.
pub fn linear(layout: &Layout, shape: &[u64]) -> Option<Bases> {
    if shape.is_empty() || shape.len() > MOST_DIMENSIONS {
        return None;
    }
    let fits = |extent: &u64| extent.is_power_of_two() && extent.trailing_zeros() <= MOST_BITS;
    if !shape.iter().all(fits) {
        return None;
    }
    let shape: Vec<u32> = shape.iter().map(|it| u32::try_from(*it).ok()).collect::<Option<_>>()?;
    of(layout, &shape)
}

fn of(layout: &Layout, shape: &[u32]) -> Option<Bases> {
    let rank = shape.len();
    match layout {
        Layout::Blocked { size_per_thread, threads_per_warp, warps_per_cta, order } => {
            if [size_per_thread, threads_per_warp, warps_per_cta, order].iter().any(|it| it.len() != rank) {
                return None;
            }
            let mut tile = Tile::new(rank);
            tile.product(Of::Register, size_per_thread, order)?;
            tile.product(Of::Lane, threads_per_warp, order)?;
            tile.product(Of::Warp, warps_per_cta, order)?;
            tile.fill(shape, order)
        }
        Layout::Mfma { warps_per_cta, shape: instruction, transposed, tiles_per_warp, .. } => {
            if rank != 2 || warps_per_cta.len() != 2 {
                return None;
            }
            let (m, n) = (*instruction.first()?, *instruction.get(1)?);
            let mut tile = Tile::new(rank);
            result_tile(&mut tile, m, n, *transposed)?;
            if !tiles_per_warp.is_empty() {
                tile.product(Of::Register, tiles_per_warp, &[1, 0])?;
            }
            tile.product(Of::Warp, warps_per_cta, &[1, 0])?;
            tile.fill(shape, &[1, 0])
        }
        Layout::DotOperand { index, parent, k_width } => factor(*index, parent, *k_width, shape),
        Layout::Slice { dim, parent } => {
            let dim = usize::try_from(*dim).ok().filter(|it| *it <= rank)?;
            let mut outer = shape.to_vec();
            outer.insert(dim, 1);
            let mut bases = of(parent, &outer)?;
            for list in [&mut bases.register, &mut bases.lane, &mut bases.warp] {
                for basis in list {
                    basis.remove(dim);
                }
            }
            bases.register.retain(|basis| basis.iter().any(|it| *it != 0));
            Some(bases)
        }
        Layout::Linear(bases) => {
            let fits = |it: &Vec<u32>| it.len() == rank;
            let all = bases.register.iter().chain(&bases.lane).chain(&bases.warp);
            let mut bases = all.clone().all(fits).then(|| bases.clone())?;
            cut(&mut bases, shape);
            Some(bases)
        }
        _ => None,
    }
}

/// Registers and lanes that hold the result of one matrix instruction: 4 adjacent rows per lane.
fn result_tile(tile: &mut Tile, m: u32, n: u32, transposed: bool) -> Option<()> {
    // A result that is not transposed runs along M.
    let (rows, columns) = if transposed { (1, 0) } else { (0, 1) };
    tile.step(Of::Register, rows, 4)?;
    match (m, n) {
        (32, 32) => {
            tile.step(Of::Lane, columns, 32)?;
            tile.step(Of::Lane, rows, 2)?;
            tile.step(Of::Register, rows, 4)
        }
        (16, 16) => {
            tile.step(Of::Lane, columns, 16)?;
            tile.step(Of::Lane, rows, 4)
        }
        (4, 64) | (64, 4) => {
            let wide = if transposed == (m > n) { 64 } else { 4 };
            tile.step(Of::Lane, columns, wide)?;
            tile.step(Of::Lane, rows, 64 / wide)
        }
        _ => None,
    }
}

/// Lanes that hold a factor of a matrix product.
fn factor(index: u32, parent: &Layout, k_width: u32, shape: &[u32]) -> Option<Bases> {
    let Layout::Mfma { warps_per_cta, shape: instruction, tiles_per_warp, .. } = parent else { return None };
    if shape.len() != 2 || warps_per_cta.len() != 2 || !k_width.is_power_of_two() {
        return None;
    }
    let (free, k) = match index {
        0 => (0, 1),
        1 => (1, 0),
        _ => return None,
    };
    let lanes = *instruction.get(free)?;
    if !matches!(lanes, 16 | 32) {
        return None;
    }
    let mut tile = Tile::new(2);
    tile.step(Of::Register, k, k_width)?;
    tile.step(Of::Lane, free, lanes)?;
    tile.step(Of::Lane, k, 64 / lanes)?;
    let along_k = shape.get(k)?;
    let now = *tile.extent.get(k)?;
    if now < *along_k {
        tile.step(Of::Register, k, along_k / now)?;
    }
    if let Some(tiles) = tiles_per_warp.get(free) {
        tile.step(Of::Register, free, *tiles)?;
    }
    // Waves along K of the result hold the same factor.
    for dim in [1, 0] {
        let waves = *warps_per_cta.get(dim)?;
        if dim == free {
            tile.step(Of::Warp, dim, waves)?;
        } else {
            tile.copies(waves)?;
        }
    }
    tile.fill(shape, &[1, 0])
}

#[derive(Clone, Copy)]
enum Of {
    Register,
    Lane,
    Warp,
}

/// A layout while it is put together from the inside.
struct Tile {
    bases: Bases,
    /// Extent so far per dimension.
    extent: Vec<u32>,
}

impl Tile {
    fn new(rank: usize) -> Self {
        Tile { bases: Bases::default(), extent: vec![1; rank] }
    }

    fn list(&mut self, of: Of) -> &mut Vec<Vec<u32>> {
        match of {
            Of::Register => &mut self.bases.register,
            Of::Lane => &mut self.bases.lane,
            Of::Warp => &mut self.bases.warp,
        }
    }

    /// Adds `count` adjacent registers, lanes or waves along a dimension.
    fn step(&mut self, of: Of, dim: usize, count: u32) -> Option<()> {
        if !count.is_power_of_two() {
            return None;
        }
        let rank = self.extent.len();
        for _ in 0..count.trailing_zeros() {
            let extent = self.extent.get_mut(dim)?;
            let mut basis = vec![0; rank];
            *basis.get_mut(dim)? = *extent;
            *extent = extent.checked_mul(2).filter(|it| *it <= 1 << MOST_BITS)?;
            self.list(of).push(basis);
        }
        Some(())
    }

    fn product(&mut self, of: Of, counts: &[u32], order: &[u32]) -> Option<()> {
        for dim in order {
            let dim = usize::try_from(*dim).ok()?;
            self.step(of, dim, *counts.get(dim)?)?;
        }
        Some(())
    }

    /// Waves that hold the same.
    fn copies(&mut self, count: u32) -> Option<()> {
        let rank = self.extent.len();
        let bits = count.is_power_of_two().then(|| count.trailing_zeros())?;
        self.bases.warp.extend((0..bits).map(|_| vec![0; rank]));
        Some(())
    }

    /// Repeats a smaller layout in more registers up to the tensor's shape, and folds a larger one.
    fn fill(mut self, shape: &[u32], order: &[u32]) -> Option<Bases> {
        for dim in order {
            let dim = usize::try_from(*dim).ok()?;
            let (wanted, now) = (*shape.get(dim)?, *self.extent.get(dim)?);
            if now < wanted {
                self.step(Of::Register, dim, wanted / now)?;
            }
        }
        cut(&mut self.bases, shape);
        Some(self.bases)
    }
}

/// Zeroes coordinates past the end of the tensor, which replicate data.
fn cut(bases: &mut Bases, shape: &[u32]) {
    for list in [&mut bases.register, &mut bases.lane, &mut bases.warp] {
        for basis in list {
            for (coordinate, extent) in basis.iter_mut().zip(shape) {
                if *coordinate >= *extent {
                    *coordinate = 0;
                }
            }
        }
    }
}

impl Bases {
    /// Different elements in a lane's registers.
    pub fn elements_per_lane(&self) -> u64 {
        1 << self.register.iter().filter(|it| it.iter().any(|it| *it != 0)).count().min(40)
    }

    /// Number of adjacent elements along a dimension in a lane's first registers.
    pub fn contiguous(&self, dim: usize) -> u64 {
        let mut run = 1u64;
        for basis in &self.register {
            let along = basis
                .iter()
                .enumerate()
                .all(|(at, it)| if at == dim { u64::from(*it) == run } else { *it == 0 });
            if !along {
                break;
            }
            run <<= 1;
        }
        run
    }

    /// Number of adjacent elements of a lane along a dimension, in any registers.
    pub(crate) fn contiguous_in_any_order(&self, dim: usize) -> u64 {
        let mut run = 1u64;
        let has = |run: u64| {
            self.register.iter().any(|basis| {
                basis
                    .iter()
                    .enumerate()
                    .all(|(at, it)| if at == dim { u64::from(*it) == run } else { *it == 0 })
            })
        };
        while has(run) {
            run <<= 1;
        }
        run
    }

    /// Waves along a dimension that hold different elements.
    pub fn waves_along(&self, dim: usize) -> u64 {
        1 << self.warp.iter().filter(|it| it.get(dim).is_some_and(|it| *it != 0)).count().min(40)
    }

    /// Lanes along a dimension that hold different elements.
    pub(crate) fn lanes_along(&self, dim: usize) -> u64 {
        1 << self.lane.iter().filter(|it| it.get(dim).is_some_and(|it| *it != 0)).count().min(40)
    }
}
