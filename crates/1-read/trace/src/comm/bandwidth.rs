//! TransferBench and rocm_bandwidth_test: copies between pairs of devices.

/// A matrix of copies, GB/s.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BandwidthMatrix {
    /// Name of the measurement, from its heading.
    pub title: String,
    /// Devices copied to: `GPU 00`.
    pub columns: Vec<String>,
    /// Devices copied from, with the bandwidth to each column; absent for `N/A`.
    pub rows: Vec<(String, Vec<Option<f64>>)>,
}

/// One transfer of a test.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    /// Test.
    pub test: u64,
    /// `Executor: GPU 00`, `Transfer 00`, `Aggregate (CPU)`.
    pub what: String,
    /// GB/s.
    pub gb_per_s: f64,
    /// ms.
    pub ms: f64,
    /// Bytes.
    pub bytes: u64,
    /// Source, executor, destination: `G0 -> G000:004 -> G1`.
    pub way: String,
}

/// A size of rocm_bandwidth_test.
#[derive(Clone, PartialEq, Debug)]
pub struct SizeBandwidth {
    /// Bytes.
    pub bytes: u64,
    /// Mean, GB/s.
    pub mean: f64,
    /// Best, GB/s.
    pub best: f64,
}

/// A file of either tool.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Bandwidths {
    /// `TransferBench v1.52`.
    pub tool: String,
    /// Matrices in their order.
    pub matrices: Vec<BandwidthMatrix>,
    /// Averages a matrix prints: `CPU->GPU` and GB/s.
    pub averages: Vec<(String, f64)>,
    /// Transfers of tests.
    pub transfers: Vec<Transfer>,
    /// Sizes of a pair.
    pub sizes: Vec<SizeBandwidth>,
    /// The pair of devices that sizes are for.
    pub pair: String,
    /// Whether all pairs copied at once (`a2a`).
    pub all_to_all: bool,
}

impl Bandwidths {
    /// Reads a file; `None` if it is of neither tool.
    pub(super) fn read(text: &str) -> Option<Bandwidths> {
        let tool = text.lines().take(200).find_map(|line| {
            let line = line.trim();
            let known = line.starts_with("TransferBench v") || line.starts_with("RocmBandwidthTest Version");
            // A matrix of rocm_bandwidth_test without its head.
            let bare = line.starts_with("D/D ").then(|| "rocm_bandwidth_test".to_owned());
            let bare = bare.or_else(|| line.starts_with("SRC+EXE\\DST").then(|| "TransferBench".to_owned()));
            known.then(|| line.to_owned()).or(bare)
        });
        let tests = text
            .lines()
            .take(200)
            .any(|line| line.trim_start().starts_with("Executor: ") || transfer(line.trim(), 0).is_some());
        let mut out = Bandwidths { tool: tool.clone().unwrap_or_default(), ..Bandwidths::default() };
        if tool.is_none() && !tests {
            return None;
        }
        if out.tool.is_empty() {
            out.tool = "TransferBench".to_owned();
        }
        let (mut heading, mut names, mut test) = ("", Vec::new(), 0);
        for line in text.lines() {
            let words = line.trim();
            if words.contains("SRC") && words.contains("DST") {
                let matrix = BandwidthMatrix {
                    title: heading.trim_end_matches(':').to_owned(),
                    columns: devices(words),
                    rows: Vec::new(),
                };
                out.matrices.push(matrix);
                out.all_to_all |= words.contains("STotal");
            } else if let Some(columns) = words.strip_prefix("D/D ") {
                // Distances and rights of access are matrices, too, but no bandwidths.
                let columns = if heading.contains("GB/s") { columns } else { "" };
                out.matrices.push(BandwidthMatrix {
                    title: heading.trim_end_matches(':').to_owned(),
                    columns: columns.split_whitespace().map(|number| format!("device {number}")).collect(),
                    rows: Vec::new(),
                });
            } else if let Some(n) = words.strip_prefix("Test ") {
                test = n.trim_end_matches(':').parse().unwrap_or(test + 1);
            } else if let Some(transfer) = transfer(words, test) {
                out.transfers.push(transfer);
            } else if words.contains("CPU->CPU") {
                names = words.split_whitespace().map(str::to_owned).collect();
            } else if words.starts_with("Averages") {
                let values = words.rsplit(':').next().unwrap_or("").split_whitespace();
                let values = values.filter_map(|v| v.parse().ok());
                let way = out.matrices.last().and_then(|it| it.title.split(' ').next()).unwrap_or_default();
                let way = if way.ends_with("directional") {
                    format!(", {}", way.to_lowercase())
                } else {
                    String::new()
                };
                out.averages.extend(names.drain(..).map(|name| name + &way).zip(values));
            } else if words.starts_with("=") && words.contains("Device Id") {
                out.pair = format!("{} {}", out.pair, words.trim_matches(['=', ' '])).trim().to_owned();
            } else if let Some(size) = size(words) {
                out.sizes.push(size);
            } else if let Some(matrix) = out.matrices.last_mut()
                && let Some(row) = row(words, matrix.columns.len())
            {
                matrix.rows.push(row);
            }
            if words.contains("bandwidth") || words.contains("benchmark") || words.starts_with("Inter-Device")
            {
                heading = words;
            }
        }
        out.matrices.retain(|matrix| !matrix.columns.is_empty());
        Some(out)
    }
}

/// `GPU 00 CPU 01` as names.
fn devices(line: &str) -> Vec<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words
        .windows(2)
        .filter(|pair| matches!(pair[0], "GPU" | "CPU") && pair[1].parse::<u32>().is_ok())
        .map(|pair| format!("{} {}", pair[0], pair[1]))
        .collect()
}

fn row(line: &str, columns: usize) -> Option<(String, Vec<Option<f64>>)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [device, values @ ..] = words.as_slice()
        && device.parse::<u32>().is_ok()
        && columns > 0
        && values.len() == columns
        && values.iter().all(|value| *value == "N/A" || value.parse::<f64>().is_ok())
    {
        return Some((format!("device {device}"), values.iter().map(|value| value.parse().ok()).collect()));
    }
    if !matches!(words.first(), Some(&("GPU" | "CPU"))) || words.get(1)?.parse::<u32>().is_err() {
        return None;
    }
    let arrow = words.get(2).copied().filter(|word| matches!(*word, "->" | "<-" | "<->"));
    let from = 2 + usize::from(arrow.is_some());
    // Rows of the least, the most and the deviation follow the mean: `GPU 00 min`.
    if words.get(from).is_some_and(|word| matches!(*word, "min" | "max" | "sd")) {
        return None;
    }
    let values: Vec<Option<f64>> = words[from..].iter().map(|word| word.parse().ok()).collect();
    // Sums may follow the columns.
    if values.len() < columns || columns == 0 {
        return None;
    }
    let arrow = arrow.filter(|arrow| *arrow != "->").map_or(String::new(), |arrow| format!(" {arrow}"));
    Some((format!("{} {}{arrow}", words[0], words[1]), values[..columns].to_vec()))
}

fn transfer(line: &str, test: u64) -> Option<Transfer> {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [what, rate, time, bytes, way] = parts.as_slice() else { return None };
    if !["Executor", "Transfer", "Aggregate"].iter().any(|word| what.starts_with(word)) {
        return None;
    }
    let first = |text: &str| text.split_whitespace().next().and_then(|v| v.parse::<f64>().ok());
    Some(Transfer {
        test,
        what: (*what).to_owned(),
        gb_per_s: first(rate)?,
        ms: first(time)?,
        bytes: first(bytes)? as u64,
        way: (*way).to_owned(),
    })
}

fn size(line: &str) -> Option<SizeBandwidth> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [number, unit, _, mean, _, best] = words.as_slice() else { return None };
    let scale = match *unit {
        "B" => 1,
        "KB" => 1 << 10,
        "MB" => 1 << 20,
        "GB" => 1u64 << 30,
        _ => return None,
    };
    let number: u64 = number.parse().ok()?;
    Some(SizeBandwidth {
        bytes: number.checked_mul(scale)?,
        mean: mean.parse().ok()?,
        best: best.parse().ok()?,
    })
}

#[cfg(test)]
mod unit {
    use super::*;

    #[test]
    fn rows_beside_the_mean_are_no_bandwidths() {
        let text = "Unidirectional copy peak bandwidth GB/s\n SRC+EXE\\DST    CPU 00    GPU 00\n  CPU 00  ->     15.5     9.8\n\
            CPU 00 min     14.2     9.7\n  CPU 00  sd   3.3e-01   9.6e-02\n  GPU 00  ->     11.5     N/A\n  GPU 00 max     11.9   510.0\n";
        let read = Bandwidths::read(text).unwrap();
        assert_eq!(
            read.matrices[0].rows,
            [
                ("CPU 00".to_owned(), vec![Some(15.5), Some(9.8)]),
                ("GPU 00".to_owned(), vec![Some(11.5), None]),
            ]
        );
        let test = "Test 1:\n Transfer 00      |  33.5 GB/s |    2.0 ms |     67108864 bytes | G0 -> GPU00:004 -> G1\n";
        assert_eq!(Bandwidths::read(test).unwrap().transfers.len(), 1);
        assert_eq!(Bandwidths::read("Transfer of files | x | y | z | w\n"), None);
    }
}
