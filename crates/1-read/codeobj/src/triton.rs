//! The JSON file that Triton writes for a code object.
//!
//! It has launch parameters that a code object lacks: LDS, waves, stages.

use serde_json::Value;

use crate::{CodeObject, ReadError};

/// Adds the launch facts of a Triton JSON file to the kernel it names, or to the only kernel there is.
pub fn apply_triton(json: &[u8], object: &mut CodeObject) -> Result<(), ReadError> {
    let value: Value = serde_json::from_slice(json).map_err(|error| {
        let before = json.split(|&byte| byte == b'\n').take(error.line().saturating_sub(1));
        let position = before.map(|line| line.len() + 1).sum::<usize>() + error.column().saturating_sub(1);
        ReadError::new(position.min(json.len()) as u64, format!("not JSON: {error}"))
    })?;
    let number =
        |key: &str| value.get(key).and_then(Value::as_u64).and_then(|value| u32::try_from(value).ok());
    let name = value.get("name").and_then(Value::as_str);
    if name.is_none() && number("num_warps").is_none() {
        return Err(ReadError::new(0, "JSON without `name` and `num_warps`: not from Triton")
            .hint("the file beside a code object in Triton's cache has them"));
    }
    let index = match name.and_then(|name| object.kernels.iter().position(|kernel| kernel.name == name)) {
        Some(index) => Some(index),
        None if object.kernels.len() == 1 => Some(0),
        None => None,
    };
    let Some(kernel) = index.and_then(|index| object.kernels.get_mut(index)) else {
        let name = name.unwrap_or_default();
        object
            .warnings
            .push(format!("the JSON file is for kernel `{name}`, which is not in the code object"));
        return Ok(());
    };
    kernel.metadata.launch_lds_bytes = number("shared");
    kernel.metadata.launch_waves = number("num_warps");
    kernel.metadata.num_stages = number("num_stages");
    Ok(())
}
