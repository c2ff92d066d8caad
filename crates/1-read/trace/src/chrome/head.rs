//! Members of a document other than its events: devices, rank, versions.

use super::version1::{Agents, agent_fact};
use crate::timeline::{Device, Timeline};
use rocprof::json::{Cursor, Fault, Stop, Stream, unescape};

/// Reads one member; unknown members are skipped, and environment variables in a trace are never kept.
pub(super) fn member(
    timeline: &mut Timeline,
    key: &str,
    stream: &mut Stream<'_>,
    kineto: &mut bool,
) -> Result<(), Fault> {
    match key {
        "deviceProperties" => {
            *kineto = true;
            let mut devices = Vec::new();
            stream.with(|c| {
                devices.clear();
                if c.peek()? != b'[' {
                    return c.skip(0);
                }
                c.array(|c| device(c).map(|it| devices.push(it)))
            })?;
            timeline.devices = devices;
        }
        "distributedInfo" => {
            let (mut rank, mut world, mut backend) = (None, None, String::new());
            stream.with(|c| {
                if c.peek()? != b'{' {
                    return c.skip(0);
                }
                c.object(|key, c| {
                    match key {
                        b"rank" => rank = c.number()?,
                        b"world_size" => world = c.number()?,
                        b"backend" => backend = text(c.plain()?),
                        _ => c.skip(0)?,
                    }
                    Ok(())
                })
            })?;
            timeline.rank = rank.map(|rank| (rank, world.unwrap_or(0)));
            if !backend.is_empty() {
                timeline.facts.push(("backend".to_owned(), backend));
            }
        }
        "hip_runtime_version"
        | "hip_driver_version"
        | "cuda_runtime_version"
        | "displayTimeUnit"
        | "record_shapes"
        | "with_stack"
        | "profile_memory" => {
            let value = stream.with(|c| c.plain().map(text))?;
            timeline.facts.push((key.replace('_', " "), value));
        }
        _ => stream.skip()?,
    }
    Ok(())
}

/// `otherData` of rocprof v1: which program was traced, on which GPUs.
pub(super) fn other(
    timeline: &mut Timeline,
    stream: &mut Stream<'_>,
    agents: &mut Agents,
) -> Result<(), Fault> {
    stream.open(b'{')?;
    while let Some(key) = stream.key()? {
        if matches!(key.as_str(), "command" | "commandline" | "name" | "hostname" | "version") {
            let value = stream.with(|c| c.plain().map(text))?;
            timeline.facts.push((key, value));
        } else if key.starts_with("Agent") && stream.peek()? == Some(b'"') {
            let value = stream.with(|c| c.plain().map(text))?;
            agent_fact(agents, &key, &value);
        } else {
            stream.skip()?;
        }
    }
    Ok(())
}

fn text(raw: &[u8]) -> String {
    String::from_utf8_lossy(&unescape(raw)).into_owned()
}

fn device(c: &mut Cursor<'_>) -> Result<Device, Stop> {
    let mut device = Device::default();
    if c.peek()? != b'{' {
        c.skip(0)?;
        return Ok(device);
    }
    c.object(|key, c| {
        match key {
            b"id" => device.id = c.number()?.unwrap_or(0),
            b"name" => device.name = text(c.plain()?),
            b"numSms" => device.compute_units = c.number()?.and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
            _ => c.skip(0)?,
        }
        Ok(())
    })?;
    Ok(device)
}
