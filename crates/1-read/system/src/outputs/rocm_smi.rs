//! `rocm-smi`: the concise table, `--json`, `--showtopo` and lines `GPU[0] : key: value`.
//!
//! Columns of the table are found by their heads; the keys of the JSON carry units and stray colons.

use crate::Fact;
use crate::gpu::{Gpu, PairLink};
use crate::values::{bdf, leading_number, said};
use serde_json::{Map, Value};
use sorting::Sort;

/// Text in every output of this tool.
pub(crate) const BANNER: &str = "ROCm System Management Interface";

/// GPUs of `--json`: an object per card.
pub(crate) fn read_json(cards: &Map<String, Value>, from: &str) -> Vec<Gpu> {
    let mut gpus: Vec<Gpu> = cards
        .iter()
        .filter_map(|(name, fields)| {
            let index: u32 = name.strip_prefix("card")?.parse().ok()?;
            let fields = fields.as_object()?;
            let find = |wanted: &[&str]| {
                fields.iter().find_map(|(key, value)| {
                    let key = key.to_ascii_lowercase();
                    let fits = wanted.iter().all(|word| key.contains(word));
                    value.as_str().filter(|text| fits && said(text)).map(str::to_owned)
                })
            };
            let known = |wanted: &[&str]| {
                find(wanted).map_or_else(
                    || Fact::unknown(format!("{from}: no `{}`", wanted.join(" "))),
                    |it| Fact::known(it, from),
                )
            };
            let number = |wanted: &[&str]| known(wanted).parse("not a number", |it| leading_number(&it));
            let address = find(&["pci bus"]).and_then(|it| bdf(&it));
            let mut gpu = Gpu::new(address.clone().unwrap_or_else(|| format!("GPU {index}")));
            gpu.index = Some(index);
            gpu.bdf = address;
            gpu.product = known(&["device name"]).or(known(&["card series"]));
            gpu.device_id = known(&["device id"]);
            gpu.perf_level = known(&["performance level"]).map(|it| it.to_ascii_lowercase());
            gpu.clock_mhz = number(&["sclk clock speed"]);
            gpu.busy_percent = number(&["gpu use (%)"]);
            gpu.hotspot_c = number(&["temperature", "junction"]);
            gpu.power_cap_w = number(&["max graphics package power"]);
            gpu.compute_partition = known(&["compute partition"]);
            gpu.memory_partition = known(&["memory partition"]);
            Some(gpu)
        })
        .collect();
    gpus.in_order_by_key(|gpu| gpu.index);
    gpus
}

/// GPUs and links of the text.
pub(crate) fn read_text(text: &str, from: &str) -> (Vec<Gpu>, Vec<PairLink>) {
    let mut gpus = table(text, from);
    lines(text, from, &mut gpus);
    (gpus, pairs(text))
}

fn slot(gpus: &mut Vec<Gpu>, index: u32) -> &mut Gpu {
    let at = gpus.iter().position(|gpu| gpu.index == Some(index)).unwrap_or_else(|| {
        let mut gpu = Gpu::new(format!("GPU {index}"));
        gpu.index = Some(index);
        gpus.push(gpu);
        gpus.len() - 1
    });
    &mut gpus[at]
}

/// Starts of the words of a head that two blanks or a line's begin set apart.
fn columns(head: &str) -> Vec<(String, usize)> {
    let mut out = Vec::new();
    let mut last = ' ';
    for (at, c) in head.char_indices() {
        if !c.is_whitespace() && last.is_whitespace() {
            let word: String = head[at..].chars().take_while(|c| !c.is_whitespace()).collect();
            out.push((word, head[..at].chars().count()));
        }
        last = c;
    }
    out
}

/// The table of `rocm-smi` without options. Cells are below their headings; `, ` separates fields of one
/// cell.
fn table(text: &str, from: &str) -> Vec<Gpu> {
    let mut gpus = Vec::new();
    let mut head: Vec<(String, usize)> = Vec::new();
    for line in text.lines() {
        if line.starts_with("Device ") || line.starts_with("GPU  ") {
            head = columns(line);
            continue;
        }
        let Some(index) = line.split_whitespace().next().and_then(|word| word.parse::<u32>().ok()) else {
            continue;
        };
        if head.is_empty() {
            continue;
        }
        let chars: Vec<char> = line.chars().collect();
        let cell = |name: &str| {
            let at = head.iter().position(|(it, _)| it == name)?;
            let start = head[at].1.min(chars.len());
            let end = head.get(at + 1).map_or(chars.len(), |(_, next)| (*next).min(chars.len()));
            let cell: String = chars[start..end].iter().collect();
            Some(cell.trim().to_owned()).filter(|it| said(it))
        };
        let known = |name: &str| {
            cell(name)
                .map_or_else(|| Fact::unknown(format!("{from}: no `{name}`")), |it| Fact::known(it, from))
        };
        let number = |name: &str| known(name).parse("not a number", |it| leading_number(&it));
        let mut gpu = Gpu::new(format!("GPU {index}"));
        gpu.index = Some(index);
        gpu.node = cell("Node").and_then(|it| it.parse().ok());
        gpu.device_id = device_id(line, from);
        gpu.hotspot_c = number("Temp");
        gpu.clock_mhz = number("SCLK");
        gpu.busy_percent = number("GPU%");
        gpu.perf_level = known("Perf").map(|it| it.to_ascii_lowercase());
        gpu.power_cap_w = number("PwrCap");
        let parts = known("Partitions");
        gpu.memory_partition = parts.clone().parse("no partition", |it| nth(&it, 0));
        gpu.compute_partition = parts.parse("no partition", |it| nth(&it, 1));
        gpus.push(gpu);
    }
    gpus
}

/// The PCI id in the column `IDs` or `DID`.
fn device_id(line: &str, from: &str) -> Fact<String> {
    let is_id = |it: &&str| {
        it.strip_prefix("0x").is_some_and(|it| it.len() == 4 && it.bytes().all(|it| it.is_ascii_hexdigit()))
    };
    let id = line.split([' ', ',']).find(is_id);
    id.map_or_else(
        || Fact::unknown(format!("{from}: no `DID`")),
        |it| Fact::known(it.to_ascii_lowercase(), from),
    )
}

fn nth(text: &str, index: usize) -> Option<String> {
    text.split(',').nth(index).map(|it| it.trim().to_owned()).filter(|it| said(it))
}

/// Lines `GPU[3] : (Topology) Numa Node: 0`, also of `--setperfdeterminism`.
fn lines(text: &str, from: &str, gpus: &mut Vec<Gpu>) {
    for line in text.lines() {
        let Some((index, rest)) = line.strip_prefix("GPU[").and_then(|it| it.split_once(']')) else {
            continue;
        };
        let Ok(index) = index.parse::<u32>() else { continue };
        let rest = rest.trim_start().trim_start_matches(':').trim();
        if memory_errors(rest, from, slot(gpus, index)) {
            continue;
        }
        let Some((key, value)) = rest.rsplit_once(':') else { continue };
        let (key, value) = (key.trim().to_ascii_lowercase(), value.trim());
        let gpu = slot(gpus, index);
        if key.ends_with("numa node") {
            if let Ok(node) = value.parse() {
                gpu.numa_node.fill(Fact::known(node, from));
            }
        } else if key.contains("enabled performance determinism") {
            gpu.perf_level = Fact::known("determinism".to_owned(), from);
            if let Some(clock) = leading_number(value) {
                gpu.max_clock_mhz = Fact::known(clock, from);
            }
        } else if key.ends_with("performance level") {
            gpu.perf_level = Fact::known(value.to_ascii_lowercase(), from);
        }
    }
}

/// Rows of `--showrasinfo` (block, status, corrected, not corrected) and of `--showretiredpages` (address, size, status).
fn memory_errors(row: &str, from: &str, gpu: &mut Gpu) -> bool {
    let add =
        |fact: &mut Fact<u64>, more: u64| *fact = Fact::known(fact.get().copied().unwrap_or(0) + more, from);
    match row.split_whitespace().collect::<Vec<_>>()[..] {
        [_, "ENABLED", corrected, not] => {
            let (Ok(corrected), Ok(not)) = (corrected.parse(), not.parse()) else { return false };
            add(&mut gpu.ecc_correctable, corrected);
            add(&mut gpu.ecc_uncorrectable, not);
            true
        }
        [address, size, "Retired" | "Pending" | "Reserved" | "Un-reservable"]
            if address.starts_with("0x") && size.starts_with("0x") =>
        {
            add(&mut gpu.retired_pages, 1);
            true
        }
        _ => false,
    }
}

/// The matrices of `--showtopo`: hops and link types.
fn pairs(text: &str) -> Vec<PairLink> {
    let (mut hops, mut kinds) = (Vec::new(), Vec::new());
    let mut section = "";
    for line in text.lines() {
        if line.starts_with("====") {
            section = if line.contains("Hops between") {
                "hops"
            } else if line.contains("Link Type between") {
                "kinds"
            } else {
                ""
            };
            continue;
        }
        let mut words = line.split_whitespace();
        let Some(from) = words.next().filter(|word| word.starts_with("GPU") && !section.is_empty()) else {
            continue;
        };
        let cells: Vec<&str> = words.collect();
        // The head has the names of GPUs in every cell.
        if cells.iter().all(|cell| cell.starts_with("GPU")) {
            continue;
        }
        let Ok(row) = from[3..].parse::<usize>() else { continue };
        for (column, cell) in cells.into_iter().enumerate().filter(|(column, _)| *column != row) {
            match section {
                "hops" => hops.push(((row, column), cell.parse::<u64>().ok())),
                _ => kinds.push(((row, column), cell.to_ascii_uppercase())),
            }
        }
    }
    let hops_of = |pair| hops.iter().find(|(it, _)| *it == pair).and_then(|(_, hops)| *hops);
    kinds
        .into_iter()
        .map(|(pair @ (row, column), kind)| PairLink {
            from: format!("GPU {row}"),
            to: format!("GPU {column}"),
            kind,
            hops: hops_of(pair),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_and_retired_pages_are_counted() {
        let text = "==== x ====\nGPU[0]\t: Block   Status   Correctable Error  Uncorrectable Error\n\
            GPU[0]\t: UMC   ENABLED   12   1\nGPU[0]\t: SDMA   ENABLED   0   2\nGPU[1]\t: UMC   DISABLED   0   0\n\
            GPU[1]\t:   0x3fe2fc0000   0x1000   Retired\nGPU[1]\t:   0x3fe2fc1000   0x1000   Pending\n";
        let (gpus, _) = read_text(text, "t");
        let counts = |gpu: &Gpu| {
            (
                gpu.ecc_correctable.get().copied(),
                gpu.ecc_uncorrectable.get().copied(),
                gpu.retired_pages.get().copied(),
            )
        };
        assert_eq!((counts(&gpus[0]), counts(&gpus[1])), ((Some(12), Some(3), None), (None, None, Some(2))));
    }

    #[test]
    fn determinism_is_read_from_what_set_it() {
        let text = "==== x ====\nGPU[0]\t\t: Successfully enabled performance determinism and set GFX clock frequency: 1900\nGPU[1]\t\t: (Topology) Numa Node: 1\n";
        let (gpus, pairs) = read_text(text, "t");
        assert_eq!(gpus[0].perf_level.get().map(String::as_str), Some("determinism"));
        assert_eq!(gpus[0].max_clock_mhz.get(), Some(&1900.0));
        assert_eq!(gpus[1].numa_node.get(), Some(&1));
        assert!(pairs.is_empty());
    }
}
