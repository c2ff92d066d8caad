//! Resident memory of a process group.

use rustix::process::Pid;
use std::path::Path;

/// Resident memory of all processes of a group, MiB; pages that they share count for each.
pub(super) fn resident_mib(group: Pid) -> u64 {
    let group = group.as_raw_nonzero().get();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbered =
        processes.filter(|it| it.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit));
    let pages: u64 = numbered.filter_map(|it| resident_pages(&it.path(), group)).sum();
    pages.saturating_mul(rustix::param::page_size() as u64) >> 20
}

/// Pages of one process, if it is of the group.
fn resident_pages(process: &Path, group: i32) -> Option<u64> {
    let text = std::fs::read_to_string(process.join("stat")).ok()?;
    // The name in parentheses may hold anything; behind it are state, parent, group … and the pages as the 22nd.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    if fields.get(2)?.parse() != Ok(group) {
        return None;
    }
    fields.get(21)?.parse().ok()
}
