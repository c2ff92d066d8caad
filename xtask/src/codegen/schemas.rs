//! JSON schemas of the documents that commands write, from the types in `view`.

use super::Outputs;
use anyhow::Result;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use view::{
    Accuracy, Answer, Columns, Comparison, FileError, Guide, Incidents, KernelCard, Listing, Machines,
    MetricsReport, OccupancyReport, Plain, Recordings, Rooflines, Roofs, Searches, Sets, Stored, Summary,
    Tiles, Tuned, Verdicts,
};

/// The document of `inspect`, which is written kernel by kernel and so is no value of `view`.
#[derive(JsonSchema)]
#[allow(dead_code, reason = "it exists for its schema")]
struct Inspect {
    /// Name and version of the document.
    schema: String,
    /// The program that wrote it.
    tool: Tool,
    /// Kernels in file order.
    kernels: Vec<Kernel>,
    /// Counts over all kernels.
    summary: Summary,
    /// Comparison with a baseline and exceptions, if there are any.
    #[schemars(skip_serializing_if = "Option::is_none")]
    gate: Option<view::GateSummary>,
    /// Where code comes from, and what of its source it lacks; absent if there is nothing to know.
    #[schemars(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<view::Note>,
    /// Inputs that could not be read, in whole or in part.
    errors: Vec<FileError>,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "it exists for its schema")]
struct Tool {
    /// `rockhound`.
    name: String,
    /// Its version.
    version: String,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "it exists for its schema")]
struct Kernel {
    #[schemars(flatten)]
    card: KernelCard,
    /// The annotated disassembly, with `--asm`.
    #[schemars(skip_serializing_if = "Option::is_none")]
    listing: Option<Listing>,
}

/// A document: its schema's name and version, the commands that write it, its type.
type Document = (&'static str, &'static str, fn(&mut SchemaGenerator) -> schemars::Schema);

const DOCUMENTS: &[Document] = &[
    (view::ACCURACY_SCHEMA, "accuracy --format json", SchemaGenerator::root_schema_for::<Answer<Accuracy>>),
    (view::ANALYZE_SCHEMA, "analyze --format json", SchemaGenerator::root_schema_for::<Answer<Recordings>>),
    (view::BASELINE_SCHEMA, "--write-baseline", SchemaGenerator::root_schema_for::<view::Baseline>),
    (view::COLUMNS_SCHEMA, "columns (Python module)", SchemaGenerator::root_schema_for::<Columns>),
    (view::COMM_SCHEMA, "comm --format json", SchemaGenerator::root_schema_for::<Answer<Plain>>),
    (view::DIFF_SCHEMA, "diff --format json", SchemaGenerator::root_schema_for::<Answer<Comparison>>),
    (view::DOCTOR_SCHEMA, "doctor --format json", SchemaGenerator::root_schema_for::<Answer<Machines>>),
    (view::FIDELITY_SCHEMA, "run --report", SchemaGenerator::root_schema_for::<view::Fidelity>),
    (view::GUIDE_SCHEMA, "guide --format json", SchemaGenerator::root_schema_for::<Guide>),
    (view::INSPECT_SCHEMA, "inspect --format json", SchemaGenerator::root_schema_for::<Inspect>),
    (
        view::METRICS_SCHEMA,
        "metrics --format json",
        SchemaGenerator::root_schema_for::<Answer<MetricsReport>>,
    ),
    (
        view::OCCUPANCY_SCHEMA,
        "occupancy --format json",
        SchemaGenerator::root_schema_for::<Answer<OccupancyReport>>,
    ),
    (view::ROOFLINE_SCHEMA, "roofline --format json", SchemaGenerator::root_schema_for::<Answer<Rooflines>>),
    (
        view::ROOFS_SCHEMA,
        "roofline --measure --format json",
        SchemaGenerator::root_schema_for::<Answer<Roofs>>,
    ),
    (
        view::SETS_SCHEMA,
        "metrics --list-sets --format json",
        SchemaGenerator::root_schema_for::<Answer<Sets>>,
    ),
    (view::STORE_SCHEMA, "store QUESTION --format json", SchemaGenerator::root_schema_for::<Answer<Stored>>),
    (view::JUDGE_SCHEMA, "judge --format json", SchemaGenerator::root_schema_for::<Answer<Verdicts>>),
    (view::TILE_SCHEMA, "tile --format json", SchemaGenerator::root_schema_for::<Answer<Tiles>>),
    (view::TRACE_SCHEMA, "trace --format json", SchemaGenerator::root_schema_for::<Answer<Plain>>),
    (view::TRIAGE_SCHEMA, "triage --format json", SchemaGenerator::root_schema_for::<Answer<Incidents>>),
    (view::TUNE_SCHEMA, "tune --format json", SchemaGenerator::root_schema_for::<Answer<Searches>>),
    (view::TUNEDB_SCHEMA, "tunedb QUESTION --format json", SchemaGenerator::root_schema_for::<Answer<Tuned>>),
];

/// A file per document: `docs/schema/analyze-2.json`.
pub(super) fn generate() -> Result<Outputs> {
    let mut outputs = Outputs::new();
    for (schema, command, of) in DOCUMENTS {
        let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
        let mut value = of(&mut generator).to_value();
        closed(&mut value);
        if let Some(object) = value.as_object_mut() {
            object.insert("$id".to_owned(), json!(schema));
            object.insert("title".to_owned(), json!(format!("Output of rockhound {command}")));
            if let Some(Value::Object(properties)) = object.get_mut("properties") {
                properties.insert("schema".to_owned(), json!({ "const": schema }));
            }
        }
        let name = schema.trim_start_matches("rockhound.").replace('/', "-");
        outputs.insert(format!("docs/schema/{name}.json").into(), indented(&value)?);
    }
    Ok(outputs)
}

/// Objects with properties have no others.
fn closed(value: &mut Value) {
    match value {
        Value::Object(object) => {
            let combined = ["anyOf", "oneOf", "allOf", "$ref"].iter().any(|it| object.contains_key(*it));
            if object.get("properties").is_some_and(is_named) && !object.contains_key("additionalProperties")
            {
                let keyword = if combined { "unevaluatedProperties" } else { "additionalProperties" };
                object.insert(keyword.to_owned(), json!(false));
            }
            object.values_mut().for_each(closed);
        }
        Value::Array(items) => items.iter_mut().for_each(closed),
        _ => {}
    }
}

/// True for the keyword `properties`, not a property of that name.
fn is_named(properties: &Value) -> bool {
    properties
        .as_object()
        .is_some_and(|it: &Map<String, Value>| it.values().all(|it| it.is_object() || it.is_boolean()))
}

fn indented(value: &Value) -> Result<String> {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(b" ");
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    serde::Serialize::serialize(value, &mut serializer)?;
    out.push(b'\n');
    Ok(String::from_utf8(out)?)
}
