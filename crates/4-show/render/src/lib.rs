//! Renderers: text, JSON, CSV, SARIF; one file per format.
//!
//! The one idea to keep in mind: renderers see only `view`.
