//! T4 results: `{"metadata": {"timeunit"}, "results": [{"configuration", "times", "invalidity", "measurements"}]}`.

use super::{Building, Status, Tried, mean, runs, text};
use crate::error::Error;
use crate::format::Format;
use crate::json::{Json, Reader};
use crate::model::Tunings;

pub(super) fn read<'a>(name: &str, bytes: &'a [u8]) -> Result<Tunings<'a>, Error> {
    let mut reader = Reader::new(text(bytes)?);
    let mut building = Building::new(name, Format::SpaceResults, bytes);
    // Milliseconds, which the hub spells in its own way.
    let mut scale = 1e3;
    let mut whole = true;
    let closed = reader.members(&mut |reader, key, _| {
        if key == "results" {
            whole = reader.items(&mut |reader| {
                let value = reader.value()?;
                building.add(value.span.clone(), tried(&value.value, scale))
            })?;
            return Ok(());
        }
        let value = reader.value()?.value;
        if key == "metadata" {
            scale = unit(value.get("timeunit").and_then(Json::text).unwrap_or_default());
            let word = |key: &str| value.get(key).map(Json::words).unwrap_or_default();
            building.space.device = word("device_name");
            building.space.kernel = word("kernel_name");
        }
        Ok(())
    })?;
    if !(whole && closed) {
        building.cut();
    }
    Ok(building.finish())
}

/// Microseconds of a unit of time.
fn unit(word: &str) -> f64 {
    match word {
        "seconds" | "s" => 1e6,
        "microseconds" | "us" => 1.0,
        "nanoseconds" | "ns" => 1e-3,
        _ => 1e3,
    }
}

fn tried<'t>(value: &'t Json<'_>, scale: f64) -> Tried<'t> {
    let configuration = value.get("configuration").and_then(Json::object).unwrap_or_default();
    let pairs = configuration.iter().map(|it| (&*it.key, it.value.value.words())).collect();
    let times = value.get("times");
    // The objective named first; of none the first measurement.
    let objective = value.get("objectives").and_then(Json::array).and_then(|it| it.first());
    let objective = objective.and_then(|it| it.value.text()).unwrap_or("time");
    let all = value.get("measurements").and_then(Json::array).unwrap_or_default();
    let named = all.iter().find(|it| it.value.get("name").and_then(Json::text) == Some(objective));
    let (time_us, failed) = mean(named.or(all.first()).and_then(|it| it.value.get("value")), scale);
    let stated = value.get("invalidity").and_then(Json::text).map(Status::of);
    let wrong = value.get("correctness").and_then(Json::number) == Some(0.0);
    let status = match (stated, failed) {
        (Some(Status::Correct) | None, Some(failed)) => failed,
        (Some(Status::Correct) | None, None) if wrong => Status::Wrong,
        (stated, _) => stated.unwrap_or(Status::Correct),
    };
    let to_ms = scale / 1e3;
    let in_ms = |it: f64| (it * to_ms) as f32;
    Tried {
        pairs,
        runs_ms: runs(times.and_then(|it| it.get("runtimes")), to_ms),
        compile_ms: times.and_then(|it| it.get("compilation")?.number()).map(in_ms),
        time_us,
        tera_flops: None,
        status,
    }
}
