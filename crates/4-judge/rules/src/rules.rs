//! One module per rule.
//!
//! The one idea to keep in mind: a module gives one `RULE`; it reads evidence and no other rule's findings.

pub(crate) mod chk001;
pub(crate) mod chk002;
pub(crate) mod chk003;
pub(crate) mod chk004;
pub(crate) mod chk005;
pub(crate) mod ctr001;
pub(crate) mod ctr002;
pub(crate) mod ctr003;
pub(crate) mod ctr004;
pub(crate) mod ctr005;
pub(crate) mod lch001;
pub(crate) mod lch002;
pub(crate) mod lch004;
pub(crate) mod lch005;
pub(crate) mod lds001;
pub(crate) mod lds002;
pub(crate) mod mat001;
pub(crate) mod mat002;
pub(crate) mod mat005;
pub(crate) mod mem001;
pub(crate) mod mem002;
pub(crate) mod mem003;
pub(crate) mod mem004;
pub(crate) mod mem005;
pub(crate) mod mem006;
pub(crate) mod mem007;
pub(crate) mod mem008;
pub(crate) mod mem010;
pub(crate) mod mem011;
pub(crate) mod mem012;
pub(crate) mod res001;
pub(crate) mod res002;
pub(crate) mod res003;
pub(crate) mod res004;
pub(crate) mod res005;
pub(crate) mod res006;
pub(crate) mod res007;
pub(crate) mod res008;
pub(crate) mod syn001;
pub(crate) mod syn002;
pub(crate) mod syn003;
pub(crate) mod syn004;
pub(crate) mod til006;
pub(crate) mod til008;
