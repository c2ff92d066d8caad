//! Page faults of GPUs in the kernel's log.
//!
//! A fault is a block of lines. Blocks of GPUs that fault at once are interleaved, so lines are joined by
//! their PCI address; a fault that the driver retries is reported again and counted.
//!
//! Source: the amdgpu driver (`gmc_v9_0.c`).

use super::{address, count};
use std::collections::HashMap;

/// Lines that may follow the head of a page fault.
const BLOCK: usize = 14;
/// A page fault that the driver reports.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PageFault {
    /// Line of the head, 1-based.
    pub line: u32,
    /// Seconds or date, as written.
    pub time: String,
    /// GPU.
    pub bdf: String,
    /// `gfxhub0`, `mmhub0`.
    pub hub: String,
    /// Whether the hardware retries: `retry` and `no-retry`; `None` for older drivers, which do not report
    /// it.
    pub retry: Option<bool>,
    /// Process.
    pub process: Option<String>,
    /// Its number.
    pub pid: Option<u64>,
    /// Start of the page.
    pub address: Option<u64>,
    /// Unit that asked: `TCP`, ...
    pub client: Option<String>,
    /// `VM_L2_PROTECTION_FAULT_STATUS`.
    pub status: Option<u64>,
    /// Rights that were missing.
    pub permission_faults: Option<u64>,
    /// The page table could not be walked.
    pub walker_error: Option<u64>,
    /// No mapping.
    pub mapping_error: Option<u64>,
    /// 1 for a store.
    pub rw: Option<u64>,
    /// More faults followed that are not in the log.
    pub more_faults: Option<u64>,
    /// The block is truncated before its fields.
    pub cut: bool,
    /// The first line of the block is not in the log.
    pub headless: bool,
    /// Number of equal reports: the driver retries some faults.
    pub times: u32,
}

/// Page faults of a text; equal ones are counted.
pub(super) fn read(lines: &[&str]) -> Vec<PageFault> {
    let mut faults: Vec<PageFault> = Vec::new();
    // The block of each GPU that lines are added to, and where it began.
    let mut open: HashMap<String, (usize, usize)> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        if !line.contains("amdgpu") {
            continue;
        }
        let entry = logs::entry(line);
        let Some(bdf) = device(&entry.text) else { continue };
        if entry.text.contains("page fault (") {
            let new = head(&entry, bdf.clone(), count(at + 1));
            let (last, next) = (open.get(&bdf).map(|it| it.0), faults.len());
            match last.and_then(|last| faults.get_mut(last)).filter(|it| is_bare(it) && it.hub == new.hub) {
                // A retried access is announced again before its block.
                Some(fault) => *fault = PageFault { line: fault.line, times: fault.times + 1, ..new },
                None => {
                    open.insert(bdf, (next, at));
                    faults.push(new);
                }
            }
            continue;
        }
        // A log that begins within a block, or lines of several GPUs that were filtered.
        let known = open.get(&bdf).and_then(|(fault, _)| faults.get(*fault));
        if entry.text.contains("in page starting at address ") && known.is_none_or(|it| it.address.is_some())
        {
            open.insert(bdf.clone(), (faults.len(), at));
            faults.push(PageFault {
                line: count(at + 1),
                time: entry.time.clone().unwrap_or_default(),
                bdf: bdf.clone(),
                headless: true,
                times: 1,
                ..PageFault::default()
            });
        }
        let Some((fault, start)) = open.get(&bdf).copied() else { continue };
        if at - start > BLOCK * open.len().max(1) || faults[fault].rw.is_some() {
            open.remove(&bdf);
            continue;
        }
        field(&mut faults[fault], &entry.text);
    }
    for fault in &mut faults {
        fault.cut = fault.status.is_none();
    }
    merged(faults)
}

/// True for a fault of which only the first line was read.
fn is_bare(fault: &PageFault) -> bool {
    fault.address.is_none() && fault.client.is_none() && fault.status.is_none()
}

/// Counts reports that differ in time and line only.
fn merged(faults: Vec<PageFault>) -> Vec<PageFault> {
    let mut out: Vec<PageFault> = Vec::new();
    let mut known: HashMap<_, usize> = HashMap::new();
    for fault in faults {
        let key = (fault.bdf.clone(), fault.address, fault.pid, fault.status);
        match known.get(&key).filter(|_| fault.address.is_some()) {
            Some(at) => out[*at].times += 1,
            None => {
                known.insert(key, out.len());
                out.push(fault);
            }
        }
    }
    out
}

/// The first PCI address of a line.
fn device(text: &str) -> Option<String> {
    text.split([' ', '=', '[', ']']).find_map(|word| {
        let word = word.trim_end_matches([':', ',']);
        word.contains(':').then(|| crate::values::bdf(word)).flatten()
    })
}

fn head(entry: &logs::Entry, bdf: String, line: u32) -> PageFault {
    let text = entry.text.as_str();
    let mut fault = PageFault {
        line,
        time: entry.time.clone().unwrap_or_default(),
        bdf,
        hub: text
            .split_once('[')
            .and_then(|(_, it)| it.split_once(']'))
            .map_or_else(String::new, |(hub, _)| hub.to_owned()),
        retry: if text.contains("no-retry") {
            Some(false)
        } else if text.contains("retry") {
            Some(true)
        } else {
            None
        },
        times: 1,
        ..PageFault::default()
    };
    process(&mut fault, text);
    fault
}

/// `for process python3 pid 30911 thread ...`.
fn process(fault: &mut PageFault, text: &str) {
    // Drivers from 6.7 on write it as a line of its own.
    let found = text.split_once("for process ").or_else(|| text.split_once(" Process "));
    let Some((_, rest)) = found else { return };
    // A process that has ended has no name any more.
    let (name, rest) = rest
        .strip_prefix("pid ")
        .map(|it| ("", it))
        .or_else(|| rest.split_once(" pid "))
        .unwrap_or((rest, ""));
    let name = name.trim();
    if !name.is_empty() && name != "pid" {
        fault.process = Some(name.to_owned());
    }
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    fault.pid = rest[..digits].parse().ok().filter(|pid| *pid != 0).or(fault.pid);
}

fn field(fault: &mut PageFault, text: &str) {
    process(fault, text);
    let hex = |name: &str| text.split_once(name).and_then(|(_, it)| address(it));
    if let Some((_, rest)) = text.split_once("starting at address ") {
        fault.address = address(rest);
    }
    if let Some((_, rest)) = text.split_once("client ID: ") {
        fault.client = Some(rest.split(" (").next().unwrap_or(rest).trim().to_owned());
    }
    fault.status = fault.status.or(hex("VM_L2_PROTECTION_FAULT_STATUS:"));
    if fault.hub.is_empty() {
        // Registers have the name of their hub.
        let hubs = [("GCVM_L2_", "gfxhub"), ("MMVM_L2_", "mmhub")];
        fault.hub = hubs.iter().find(|(it, _)| text.contains(it)).map_or("", |(_, hub)| hub).to_owned();
    }
    fault.more_faults = fault.more_faults.or(hex("MORE_FAULTS: "));
    fault.walker_error = fault.walker_error.or(hex("WALKER_ERROR: "));
    fault.permission_faults = fault.permission_faults.or(hex("PERMISSION_FAULTS: "));
    fault.mapping_error = fault.mapping_error.or(hex("MAPPING_ERROR: "));
    fault.rw = fault.rw.or(hex(" RW: ")).or(hex("\tRW: ")).or(hex("\t RW: "));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A block of a GPU, with its lines.
    fn block(bdf: &str, page: &str, rw: u32) -> Vec<String> {
        [
            "[gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:8 pasid:1)".to_owned(),
            " for process app pid 41 thread app pid 41)".to_owned(),
            format!("  in page starting at address {page} from IH client 0x1b (UTCL2)"),
            "VM_L2_PROTECTION_FAULT_STATUS:0x00341051".to_owned(),
            "\t Faulty UTCL2 client ID: TCP (0x8)".to_owned(),
            "\t MORE_FAULTS: 0x1".to_owned(),
            format!("\t RW: {rw:#x}"),
        ]
        .map(|text| format!("[Tue Sep  9 02:30:28 2025] amdgpu {bdf}: amdgpu: {text}"))
        .to_vec()
    }

    #[test]
    fn the_process_in_both_forms() {
        for text in ["for process app pid 41 thread x pid 42)", "amdgpu:  Process app pid 41 thread x pid 42"]
        {
            let mut fault = PageFault::default();
            process(&mut fault, text);
            assert_eq!((fault.process.as_deref(), fault.pid), (Some("app"), Some(41)), "{text}");
        }
    }

    #[test]
    fn blocks_without_their_first_line() {
        let all = block("0000:06:00.0", "0x7000", 1);
        let next = block("0000:06:00.0", "0x9000", 0);
        let lines: Vec<&str> = all[2..].iter().chain(&next).map(String::as_str).collect();
        let found = read(&lines);
        let told: Vec<_> = found.iter().map(|it| (it.line, it.address, it.rw, it.headless, it.cut)).collect();
        assert_eq!(told, [(1, Some(0x7000), Some(1), true, false), (6, Some(0x9000), Some(0), false, false)]);
    }

    #[test]
    fn blocks_of_several_gpus_are_parted_and_repeats_counted() {
        let (a, b) = (block("0000:06:00.0", "0x7000", 1), block("0000:66:00.0", "0x9000", 0));
        let mixed: Vec<String> = a.iter().zip(&b).flat_map(|(a, b)| [a.clone(), b.clone()]).collect();
        let lines: Vec<&str> = mixed.iter().chain(&a).map(String::as_str).collect();
        let found: Vec<_> = read(&lines)
            .into_iter()
            .map(|it| (it.bdf, it.address, it.rw, it.client, it.pid, it.times, it.cut))
            .collect();
        let tcp = Some("TCP".to_owned());
        assert_eq!(
            found,
            [
                ("0000:06:00.0".to_owned(), Some(0x7000), Some(1), tcp.clone(), Some(41), 2, false),
                ("0000:66:00.0".to_owned(), Some(0x9000), Some(0), tcp, Some(41), 1, false),
            ]
        );
        let found = read(&lines[..4]);
        assert!(found.len() == 2 && found.iter().all(|it| it.cut));
        // The first line twice, then the block.
        let twice: Vec<&str> = a[..1].iter().chain(&a).map(String::as_str).collect();
        let found = read(&twice);
        assert_eq!(
            found.iter().map(|it| (it.line, it.address, it.times)).collect::<Vec<_>>(),
            [(1, Some(0x7000), 2)]
        );
    }
}
