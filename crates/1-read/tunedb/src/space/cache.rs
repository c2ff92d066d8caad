//! Caches of Kernel Tuner: `{"kernel_name", "tune_params_keys", "tune_params", "cache": {"16,1,…": {…}}}`. A run that
//! was killed leaves the last braces out.

use super::{Building, Parameter, Status, Tried, mean, runs, text};
use crate::error::Error;
use crate::format::Format;
use crate::json::{Json, Reader};
use crate::model::Tunings;

pub(super) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut reader = Reader::new(text(bytes)?);
    let mut building = Building::new(name, Format::KernelTuner, bytes);
    let mut names: Vec<String> = Vec::new();
    let mut whole = true;
    let closed = reader.members(&mut |reader, key, _| {
        if key == "cache" {
            whole = reader.members(&mut |reader, _, start| {
                let value = reader.value()?;
                building.add(start..reader.at(), tried(&names, &value.value))
            })?;
            return Ok(());
        }
        let value = reader.value()?.value;
        let space = &mut building.space;
        match &*key {
            "device_name" => space.device = value.words(),
            "kernel_name" => space.kernel = value.words(),
            "problem_size" => space.problem = value.words(),
            "tune_params_keys" => {
                names = value.array().unwrap_or_default().iter().map(|it| it.value.words()).collect();
                names.truncate(super::MOST_PARAMETERS);
            }
            "tune_params" => space.parameters = parameters(&names, &value),
            _ => {}
        }
        Ok(())
    })?;
    if !(whole && closed) {
        building.cut();
    }
    Ok(building.finish())
}

/// Parameters in the order of their names, with all values.
fn parameters(names: &[String], value: &Json<'_>) -> Vec<Parameter> {
    let of = |name: &String| {
        let values = value.get(name).and_then(Json::array).unwrap_or_default();
        Parameter { name: name.clone(), values: values.iter().map(|it| it.value.words()).collect() }
    };
    names.iter().map(of).collect()
}

fn tried<'t>(names: &'t [String], value: &Json<'_>) -> Tried<'t> {
    let pairs = names.iter().filter_map(|name| Some((name.as_str(), value.get(name)?.words()))).collect();
    let (time_us, failed) = mean(value.get("time"), 1e3);
    let number = |key: &str| value.get(key).and_then(Json::number);
    Tried {
        pairs,
        runs_ms: runs(value.get("times"), 1.0),
        compile_ms: number("compile_time").map(|it| it as f32),
        time_us,
        tera_flops: number("GFLOP/s").map(|it| it / 1e3),
        status: failed.unwrap_or(Status::Correct),
    }
}
