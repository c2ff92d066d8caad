//! Enough of JSON Schema to check a document: what the schemas of this repository use, and nothing else.
//!
//! The one idea to keep in mind: a keyword this does not know is an error, so a schema cannot promise what
//! nobody checks.

use crate::run::root;
use serde_json::Value;

pub(crate) struct Schema {
    root: Value,
}

/// Keywords that only describe.
const WORDS: [&str; 5] = ["$schema", "$id", "title", "description", "$defs"];

impl Schema {
    /// The one in `docs/schema`: `guide-1`.
    pub(crate) fn of(name: &str) -> Self {
        let path = root().join("docs/schema").join(name).with_extension("json");
        let text = std::fs::read_to_string(&path).expect("the schema");
        Schema { root: serde_json::from_str(&text).expect("JSON") }
    }

    /// Where and how a document differs from the schema.
    pub(crate) fn problems(&self, document: &Value) -> Vec<String> {
        let mut problems = Vec::new();
        self.check(&self.root, document, "", &mut problems);
        problems
    }

    fn check(&self, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        let keywords = schema.as_object().expect("a schema is an object");
        for (keyword, wanted) in keywords {
            match keyword.as_str() {
                word if WORDS.contains(&word) => {}
                "$ref" => {
                    let name = wanted
                        .as_str()
                        .and_then(|name| name.strip_prefix("#/$defs/"))
                        .expect("a local reference");
                    self.check(&self.root["$defs"][name], value, at, problems);
                }
                "anyOf" => {
                    let fits = wanted.as_array().expect("schemas").iter().any(|schema| {
                        let mut inner = Vec::new();
                        self.check(schema, value, at, &mut inner);
                        inner.is_empty()
                    });
                    if !fits {
                        problems.push(format!("{at}: fits none of the alternatives"));
                    }
                }
                "const" => {
                    if value != wanted {
                        problems.push(format!("{at}: {value} is not {wanted}"));
                    }
                }
                "enum" => {
                    if !wanted.as_array().expect("values").contains(value) {
                        problems.push(format!("{at}: {value} is not one of {wanted}"));
                    }
                }
                "type" => {
                    let one = [wanted.clone()];
                    let types = wanted.as_array().map_or(&one[..], Vec::as_slice);
                    if !types.iter().any(|wanted| is_type(value, wanted.as_str().expect("a type"))) {
                        problems.push(format!("{at}: {value} is no {wanted}"));
                    }
                }
                "items" => {
                    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(wanted, item, &format!("{at}/{index}"), problems);
                    }
                }
                "required" => {
                    for name in wanted.as_array().expect("names") {
                        let name = name.as_str().expect("a name");
                        if value.as_object().is_some_and(|object| !object.contains_key(name)) {
                            problems.push(format!("{at}: `{name}` is missing"));
                        }
                    }
                }
                "properties" => {
                    for (name, inner) in wanted.as_object().expect("properties") {
                        if let Some(value) = value.get(name) {
                            self.check(inner, value, &format!("{at}/{name}"), problems);
                        }
                    }
                }
                "additionalProperties" => {
                    let known = &schema["properties"];
                    for (name, inner) in value.as_object().into_iter().flatten() {
                        if known.get(name).is_some() {
                            continue;
                        }
                        match wanted {
                            Value::Bool(false) => problems.push(format!("{at}: `{name}` is not described")),
                            Value::Bool(true) => {}
                            schema => self.check(schema, inner, &format!("{at}/{name}"), problems),
                        }
                    }
                }
                other => panic!("the schema uses `{other}`, which this check does not know"),
            }
        }
    }
}

fn is_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema uses the type `{other}`, which does not exist"),
    }
}
