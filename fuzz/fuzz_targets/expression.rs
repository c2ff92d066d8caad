//! Any text as an expression over four values.
#![no_main]

use expression::{Expression, Value};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(expression) = Expression::parse(text) else { return };
    let values = [Value::Int(64), Value::Float(0.5), Value::Text("fp16".to_owned()), Value::Bool(true)];
    let values: Vec<Value> = values.iter().cycle().take(expression.names().len()).cloned().collect();
    let _ = expression.evaluate(&values);
});
