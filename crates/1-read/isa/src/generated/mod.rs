//! Tables generated from `tables/*.tbl`; the generator is `cargo xtask codegen`.

pub(crate) mod tables;
