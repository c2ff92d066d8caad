//! The generated schemas in `docs/schema`, and documents checked against them.

use crate::run::root;
use serde_json::Value;

pub(crate) struct Schema(jsonschema::Validator);

impl Schema {
    /// The one in `docs/schema`: `guide-1`.
    pub(crate) fn of(name: &str) -> Self {
        let path = root().join("docs/schema").join(name).with_extension("json");
        let text = std::fs::read_to_string(&path).expect("the schema");
        let schema: Value = serde_json::from_str(&text).expect("JSON");
        Schema(jsonschema::validator_for(&schema).expect("a schema"))
    }

    /// Differences between a document and the schema.
    pub(crate) fn problems(&self, document: &Value) -> Vec<String> {
        self.0.iter_errors(document).map(|error| format!("{}: {error}", error.instance_path())).collect()
    }
}

#[test]
fn a_wrong_document_is_refused() {
    let schema = Schema::of("doctor-2");
    let document = serde_json::json!({ "schema": "rockhound.doctor/2", "more": 1 });
    assert!(schema.problems(&document).len() > 1);
}
