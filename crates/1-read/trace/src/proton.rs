//! Triton's Proton: a tree of scopes in the literal form of Hatchet, and the GPUs it ran on.
//!
//! `[{"frame": {"name"}, "metrics": {"count", "time (ns)", "flops16", "bytes"}, "children": […]}, {"HIP": {"0": {"arch"}}}]`

use crate::error::{Error, note_at};
use crate::scopes::{ScopeSum, WIDTHS};
use crate::timeline::{Device, Format, Timeline};
use rocprof::json::{Cursor, Fault, Stop, Stream, text, unescape};
use std::io::Read;
use view::NoteKind;

/// Nested scopes that are followed.
const DEEPEST: usize = 400;

/// True if JSON begins like such a tree. Members are sorted by name, so children may come first.
pub(crate) fn is(head: &[u8]) -> bool {
    let mut bytes = head.iter().copied().filter(|byte| !byte.is_ascii_whitespace());
    if bytes.next() != Some(b'[') || bytes.next() != Some(b'{') {
        return false;
    }
    let start: Vec<u8> = bytes.take(12).collect();
    [&b"\"children\":"[..], b"\"frame\":", b"\"metrics\":"].iter().any(|key| start.starts_with(key))
}

/// True for the same tree as MessagePack: an array of two whose first is a map with a text key.
pub(crate) fn is_packed(head: &[u8]) -> bool {
    let key = [&b"children"[..], b"frame", b"metrics"];
    let begins = |rest: &[u8]| {
        key.iter().any(|key| rest.first() == Some(&(0xa0 | key.len() as u8)) && rest[1..].starts_with(key))
    };
    matches!(head, [0x92, 0x80..=0x8f, rest @ ..] if begins(rest))
}

/// Reads one.
pub(crate) fn read(input: &mut dyn Read) -> Result<Timeline, Error> {
    let mut stream = Stream::new(input);
    let mut timeline = Timeline::new(Format::Proton);
    let broken = |fault: Fault| {
        let (offset, what) = match fault {
            Fault::Cut(at) => (at, "the file ends within a value that begins here".to_owned()),
            Fault::Bad(at, what) => (at, what),
        };
        Error::Broken { kind: "Proton profile", offset, what }
    };
    let parts = stream.with(document).map_err(broken)?;
    let mut other = 0;
    for node in parts.nodes {
        let name = timeline.names.add(&node.name);
        other += node.other;
        timeline.scopes.push(ScopeSum { name, ..node.sum });
    }
    // The root has zeros and no name of interest.
    if let Some(root) = timeline.scopes.first_mut() {
        root.kernel = false;
    }
    timeline.devices = parts.devices;
    if !timeline.scopes.iter().any(|it| it.kernel) {
        let text = "no kernel with time or cycles: the profile holds scopes only";
        timeline.problems.push(note_at(NoteKind::Warning, "tree", text));
    }
    if other > 0 {
        let text = format!(
            "{other} values of other metrics are not shown (samples of the program counter, metrics of users)"
        );
        timeline.problem(NoteKind::Info, text);
    }
    Ok(timeline)
}

#[derive(Default)]
struct Parts {
    nodes: Vec<Node>,
    devices: Vec<Device>,
}

struct Node {
    name: String,
    sum: ScopeSum,
    other: u64,
}

fn document(c: &mut Cursor<'_>) -> Result<Parts, Stop> {
    let mut parts = Parts::default();
    let mut first = true;
    c.array(|c| {
        if std::mem::take(&mut first) {
            return node(c, &mut parts.nodes, None, 0);
        }
        if c.peek()? == b'{' { devices(c, &mut parts.devices) } else { c.skip(0) }
    })?;
    Ok(parts)
}

fn node(c: &mut Cursor<'_>, nodes: &mut Vec<Node>, parent: Option<u32>, depth: usize) -> Result<(), Stop> {
    if depth > DEEPEST {
        return Err(Stop::Bad("scopes are nested too deeply"));
    }
    let row = nodes.len();
    let place = u32::try_from(row).map_err(|_| Stop::Bad("too many scopes"))?;
    let sum = ScopeSum::new(crate::names::Name::NONE, parent);
    nodes.push(Node { name: String::new(), sum, other: 0 });
    c.object(|key, c| match key {
        b"frame" if c.peek()? == b'{' => c.object(|key, c| {
            if key == b"name" {
                nodes[row].name = text(c.plain()?).into_owned();
                Ok(())
            } else {
                c.skip(0)
            }
        }),
        b"metrics" if c.peek()? == b'{' => c.object(|key, c| metric(key, c, &mut nodes[row])),
        b"children" if c.peek()? == b'[' => c.array(|c| node(c, nodes, Some(place), depth + 1)),
        _ => c.skip(0),
    })
}

fn metric(key: &[u8], c: &mut Cursor<'_>, node: &mut Node) -> Result<(), Stop> {
    if matches!(c.peek()?, b'{' | b'[') {
        node.other += 1;
        return c.skip(0);
    }
    let raw = c.plain()?;
    let key = unescape(key);
    let key = String::from_utf8_lossy(&key);
    let key = key.trim_end_matches("(inc)").trim_end_matches("(exc)").trim();
    let sum = &mut node.sum;
    let value: Option<f64> = std::str::from_utf8(raw).ok().and_then(|text| text.trim().parse().ok());
    let value = value.filter(|value| value.is_finite());
    let (base, unit) = match key.split_once('(') {
        Some((base, unit)) => (base.trim(), unit.trim_end_matches(')').trim()),
        None => (key, ""),
    };
    let scale = match unit {
        "s" => 1e9,
        "ms" => 1e6,
        "us" => 1e3,
        _ => 1.0,
    };
    match (base, value) {
        ("device_id", _) => sum.device = value.map(|value| value as u64),
        ("device_type", _) => {}
        ("count", Some(value)) => sum.calls = value.max(0.0) as u64,
        ("time", Some(value)) => {
            sum.time_ns = Some(value * scale);
            sum.kernel = true;
        }
        ("cycles", Some(value)) => {
            sum.cycles = Some(value);
            sum.kernel = true;
        }
        ("normalized_cycles", _) => {}
        ("bytes", Some(value)) => sum.bytes = Some(value),
        (base, Some(value)) if base.starts_with("flops") => {
            let bits = base.trim_start_matches("flops");
            let at =
                WIDTHS.iter().position(|width| width.to_string() == bits || *width == 0 && bits.is_empty());
            match at {
                Some(at) => sum.operations[at] += value,
                None => node.other += 1,
            }
        }
        _ => node.other += 1,
    }
    Ok(())
}

/// `{"HIP": {"0": {"arch": "gfx942", "num_sms": 304}}}`.
fn devices(c: &mut Cursor<'_>, out: &mut Vec<Device>) -> Result<(), Stop> {
    c.object(|kind, c| {
        let kind = text(kind).into_owned();
        if c.peek()? != b'{' {
            return c.skip(0);
        }
        c.object(|id, c| {
            let mut device = Device { id: rocprof::json::whole(id).unwrap_or(0), ..Device::default() };
            if c.peek()? != b'{' {
                return c.skip(0);
            }
            c.object(|key, c| {
                match key {
                    b"arch" => device.target = text(c.plain()?).into_owned(),
                    b"num_sms" => {
                        let units = c.number()?.and_then(|units| u32::try_from(units).ok());
                        device.compute_units = units.unwrap_or(0);
                    }
                    _ => c.skip(0)?,
                }
                Ok(())
            })?;
            if kind != "HIP" {
                device.name = format!("{kind} {}", device.target);
                device.target = String::new();
            }
            out.push(device);
            Ok(())
        })
    })
}
