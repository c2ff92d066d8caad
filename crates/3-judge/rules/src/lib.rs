//! Rules: evidence in, findings out; one file per rule.
//!
//! The one idea to keep in mind: a rule fires only for the reason its page states.
