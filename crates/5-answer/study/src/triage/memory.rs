//! Memory of a GPU that PyTorch's message on a failed allocation does not account for.

use super::fact;
use logs::Event;
use view::NamedValue;

/// Share of the memory above which others hold much, percent.
const MUCH: f64 = 10.0;

/// Memory that neither PyTorch holds nor is free, where it is much.
pub(super) fn of_others(it: &Event) -> Option<NamedValue> {
    let bytes = |name: &str| it.field(name).and_then(bytes);
    let (total, free, allocated) = (bytes("total")?, bytes("free")?, bytes("allocated")?);
    let others = total - free - allocated - bytes("reserved unused").unwrap_or(0.0);
    (others > total * MUCH / 100.0).then(|| {
        let text = format!(
            "{:.2} GiB: another process, or libraries of this one beside PyTorch's allocator",
            others / f64::from(1 << 30)
        );
        fact("held by others", text)
    })
}

/// `780.24 MiB` in bytes.
fn bytes(text: &str) -> Option<f64> {
    let digits = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..digits].parse().ok()?;
    let unit = match text[digits..].trim() {
        "bytes" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    Some(number * f64::from(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_others_hold() {
        for (total, allocated, expected) in [
            ("128.00 GiB", "57.70 GiB", Some("69.54 GiB")),
            ("64.00 GiB", "60.10 GiB", None),
            ("? GiB", "1.00 GiB", None),
        ] {
            let line = format!(
                "HIP out of memory. Tried to allocate 3.31 GiB. GPU 0 has a total capacity of {total} of which 700.00 MiB is free. Of the allocated memory {allocated} is allocated by PyTorch, and 75.82 MiB is reserved by PyTorch but unallocated.\n"
            );
            let log = logs::Scan::text(line.as_bytes());
            let found = of_others(&log.events[0]).map(|it| it.value);
            assert_eq!(found.as_deref().map(|it| &it[..9]), expected, "{line}");
        }
    }
}
