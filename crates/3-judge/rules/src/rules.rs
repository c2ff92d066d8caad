//! One module per rule.
//!
//! The one idea to keep in mind: a module gives one `RULE`; it reads evidence and calls no other rule.

pub(crate) mod res001;
