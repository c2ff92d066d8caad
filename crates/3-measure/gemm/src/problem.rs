//! A matrix product, and its division into tiles.

use arch::ElementType;

/// Bytes of an element of the result as it is stored: narrow factors give 16-bit results.
pub(crate) fn result_bytes(factors: ElementType) -> u64 {
    u64::from(factors.bits().max(16) / 8)
}

/// Registers of a lane for one element of the running sum.
fn sum_registers(factors: ElementType) -> u64 {
    if factors == ElementType::F64 { 2 } else { 1 }
}

/// Contiguous dimension of each factor, in the letters of BLAS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Operands {
    /// Left factor along M, right factor along K.
    Nn,
    /// Left factor along M, right factor along N.
    Nt,
    /// Both along K.
    Tn,
    /// Left factor along K, right factor along N: what Triton and C programs write as row-major times
    /// row-major.
    Tt,
}

impl Operands {
    /// By letters.
    pub fn by_name(name: &str) -> Option<Operands> {
        match name.to_ascii_lowercase().as_str() {
            "nn" => Some(Operands::Nn),
            "nt" => Some(Operands::Nt),
            "tn" => Some(Operands::Tn),
            "tt" => Some(Operands::Tt),
            _ => None,
        }
    }

    /// Letters.
    pub const fn name(self) -> &'static str {
        match self {
            Operands::Nn => "nn",
            Operands::Nt => "nt",
            Operands::Tn => "tn",
            Operands::Tt => "tt",
        }
    }

    /// True if the left factor is contiguous along K.
    pub const fn left_along_k(self) -> bool {
        matches!(self, Operands::Tn | Operands::Tt)
    }

    /// True if the right factor is contiguous along K.
    pub const fn right_along_k(self) -> bool {
        matches!(self, Operands::Tn | Operands::Nn)
    }
}

/// Scales of the factors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scales {
    /// None along the depth: the kernel scales its sums once at the end, by tensor or by row.
    End,
    /// One for 32 elements of the depth, as MX types have it: some matrix instructions take them.
    Mx,
    /// One for a longer block of the depth, usually 128: the kernel scales its sums after each block.
    Blocks,
}

impl Scales {
    /// By name.
    pub fn by_name(name: &str) -> Option<Scales> {
        match name {
            "end" => Some(Scales::End),
            "mx" => Some(Scales::Mx),
            "blocks" => Some(Scales::Blocks),
            _ => None,
        }
    }

    /// What a type's name implies: 4 and 6 bits have MX scales, and so has a name such as `mxfp8`.
    pub fn of_type(name: &str, element: ElementType) -> Scales {
        let is_mx = name.to_ascii_lowercase().starts_with("mx");
        if is_mx || element.bits() < 8 { Scales::Mx } else { Scales::End }
    }

    /// Name.
    pub const fn name(self) -> &'static str {
        match self {
            Scales::End => "end",
            Scales::Mx => "mx",
            Scales::Blocks => "blocks",
        }
    }
}

/// A matrix product: M x K times K x N.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Rows of the result.
    pub m: u64,
    /// Columns of the result.
    pub n: u64,
    /// Depth.
    pub k: u64,
    /// Type of the factors.
    pub element: ElementType,
    /// Scales of the factors.
    pub scales: Scales,
    /// Layout of the factors.
    pub operands: Operands,
    /// Elements from one row (or column) of the left factor to the next; `None` for as many as it has.
    pub left_stride: Option<u64>,
    /// The same of the right factor.
    pub right_stride: Option<u64>,
}

impl Problem {
    /// Operations, a multiply-add counting two.
    pub fn operations(&self) -> f64 {
        2.0 * self.m as f64 * self.n as f64 * self.k as f64
    }

    /// Bytes that must be read and written at least: every element once.
    pub fn least_bytes(&self) -> f64 {
        let factors = self.m as f64 * self.k as f64 + self.k as f64 * self.n as f64;
        factors * f64::from(self.element.bits()) / 8.0
            + self.m as f64 * self.n as f64 * result_bytes(self.element) as f64
    }

    /// Bytes from one row of each factor to the next.
    pub fn stride_bytes(&self) -> [u64; 2] {
        let left = if self.operands.left_along_k() { self.k } else { self.m };
        let right = if self.operands.right_along_k() { self.k } else { self.n };
        [self.left_stride.unwrap_or(left), self.right_stride.unwrap_or(right)]
            .map(|elements| self.element.bytes_of(elements))
    }
}

/// How the product is cut into workgroups.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tile {
    /// Rows of a workgroup's part of the result.
    pub m: u64,
    /// Columns.
    pub n: u64,
    /// Depth of one step.
    pub k: u64,
    /// Workgroups that share one part of the result, each with its share of the depth.
    pub split_k: u64,
    /// Waves of a workgroup.
    pub waves: u32,
    /// Triton's `num_stages`: 1 without pipelining, 2 with loads one step ahead in registers.
    pub stages: u32,
}

impl Tile {
    /// `128x128x64`.
    pub fn name(&self) -> String {
        let split = if self.split_k > 1 { format!(" split {}", self.split_k) } else { String::new() };
        format!("{}x{}x{}{split}", self.m, self.n, self.k)
    }

    /// LDS of a workgroup in bytes, as Triton allocates it: one buffer of each factor, and one more for each
    /// stage after the second. Without pipelining the factors take turns.
    pub fn lds_bytes(&self, element: ElementType) -> u64 {
        let (left, right) = (element.bytes_of(self.m * self.k), element.bytes_of(self.k * self.n));
        match self.stages {
            0 | 1 => left.max(right),
            stages => (left + right) * u64::from(stages - 1),
        }
    }

    /// Registers of a lane: running sums, and the loads under way of a pipelined loop.
    pub fn registers(&self, element: ElementType, lanes: u64) -> Registers {
        let per_lane = |elements: u64| elements.div_ceil((u64::from(self.waves) * lanes).max(1));
        let bytes = per_lane(element.bytes_of((self.m + self.n) * self.k));
        Registers {
            sums: per_lane(self.m * self.n) * sum_registers(element),
            loads: if self.stages > 1 { bytes.div_ceil(4) } else { 0 },
            factors: bytes.div_ceil(4),
        }
    }
}

/// Registers of a lane by what they hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Registers {
    /// Running sums of the result.
    pub sums: u64,
    /// Loads of the next step.
    pub loads: u64,
    /// Factors of this step, where the compiler reads all of them before it multiplies.
    pub factors: u64,
}

/// A launch of a product, or of one for each expert, whose time is asked for.
#[derive(Clone, PartialEq, Debug)]
pub struct ProductLaunch {
    /// Type of the factors.
    pub element: ElementType,
    /// Experts.
    pub experts: u64,
    /// Rows of each.
    pub rows: u64,
    /// Columns of the result.
    pub n: u64,
    /// Lengths of the sums, a time for each.
    pub depths: Vec<u64>,
    /// Elements from row to row of the factors: as many bytes beyond a period of the memory channels as in the product.
    pub stride: u64,
    /// Block of the scales; zeros without.
    pub scale_block: [u64; 2],
    /// Parameters of tuned files.
    pub parameters: Vec<(String, i64)>,
}
