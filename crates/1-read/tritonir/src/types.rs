//! Types: scalars, tensors with a layout, buffers in the LDS.

use crate::layout::Layout;
use std::sync::Arc;

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub enum Type {
    /// `f16`, `i32`, `index`.
    Scalar(Element),
    /// `!tt.ptr<f16>`.
    Pointer(Element),
    /// `tensor<128x64xf16, #blocked>`.
    Tensor(Tensor),
    /// `!ttg.memdesc<2x128x64xf16, #shared, #smem, mutable>`.
    Memory(Tensor),
    /// Any other, as written.
    Other(String),
}

/// Type of one element.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Element {
    /// As written: `f16`, `i8`, `f8E4M3FNUZ`; for a pointer the type it points to.
    pub name: String,
    /// The elements are pointers to this type.
    pub pointer: bool,
}

impl Element {
    /// Bits in a register or buffer; pointers have 64. `None` for types that are not numbers.
    pub fn bits(&self) -> Option<u32> {
        if self.pointer { Some(64) } else { self.value_bits() }
    }

    /// Bits of the number, or of the number pointed to.
    pub(crate) fn value_bits(&self) -> Option<u32> {
        let name = self.name.as_str();
        match name {
            "bf16" => return Some(16),
            "tf32" => return Some(32),
            "index" => return Some(64),
            _ => {}
        }
        let rest = name.strip_prefix('f').or_else(|| name.strip_prefix('i'))?;
        // `f8E4M3FNUZ` has letters after the bits.
        let digits = rest.find(|it: char| !it.is_ascii_digit()).map_or(rest, |end| &rest[..end]);
        digits.parse().ok()
    }
}

/// Shape, element and layout of a tensor or a buffer.
#[derive(Clone, PartialEq, Debug)]
pub struct Tensor {
    /// Extents, outermost first.
    pub shape: Vec<u64>,
    /// Element type.
    pub element: Element,
    /// Distribution over registers, lanes and waves, or over the LDS; `None` in TTIR.
    pub layout: Option<Arc<Layout>>,
    /// As written: `128x64xf16`.
    pub text: String,
}

impl Tensor {
    /// Elements; saturates.
    pub fn elements(&self) -> u64 {
        self.shape.iter().fold(1u64, |all, extent| all.saturating_mul(*extent))
    }

    /// Bytes without padding; `None` for elements of unknown size.
    pub fn bytes(&self) -> Option<u64> {
        Some(self.elements().saturating_mul(u64::from(self.element.bits()?)).div_ceil(8))
    }
}

impl Type {
    /// Tensor in registers.
    pub fn tensor(&self) -> Option<&Tensor> {
        match self {
            Type::Tensor(it) => Some(it),
            _ => None,
        }
    }

    /// Buffer in the LDS.
    pub fn memory(&self) -> Option<&Tensor> {
        match self {
            Type::Memory(it) => Some(it),
            _ => None,
        }
    }

    /// Element of a tensor or buffer, or the scalar itself.
    pub fn element(&self) -> Option<&Element> {
        match self {
            Type::Scalar(it) | Type::Pointer(it) => Some(it),
            Type::Tensor(it) | Type::Memory(it) => Some(&it.element),
            Type::Other(_) => None,
        }
    }
}
