//! One module per rule.
//!
//! The one idea to keep in mind: a module gives one `RULE`; it reads evidence and no other rule's findings.

pub(crate) mod lch001;
pub(crate) mod mat001;
pub(crate) mod mat002;
pub(crate) mod res001;
pub(crate) mod res002;
pub(crate) mod res003;
pub(crate) mod res004;
pub(crate) mod res005;
pub(crate) mod res006;
pub(crate) mod til006;
pub(crate) mod til008;
