//! Tables of profilers as columns: dialects of CSV, numbers and time stamps with gaps, problems of cells.
//!
//! These loops run once per cell of tables with millions of them, so this crate is optimised where the readers of recordings around
//! it are not. Nothing here is generic over a caller's code, which would be compiled with the caller.
//!
//! ```
//! use rockhound_columns::values::Values;
//!
//! let column: Values = [Some(1.0), None, Some(2.5)].into_iter().collect();
//! assert_eq!(column.get(1), None);
//! assert_eq!(column.len(), 3);
//! ```

pub mod dialect;
pub mod digits;
pub mod number;
pub mod problem;
pub mod table;
pub mod times;
pub mod values;
