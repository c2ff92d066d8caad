//! Evidence from code objects: what one kernel looks like, as values.
//!
//! The one idea to keep in mind: everything a rule or a card needs is computed once per kernel, here.
