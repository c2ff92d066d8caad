//! Tables of `amd-smi` and `rocm-smi`: `monitor`, the page that `amd-smi` prints without options, and CSV of both tools.
//!
//! Each row becomes the record that the JSON of the same tool has, so one table of paths serves all.
//!
//! Source: `amd-smi monitor`, `amd-smi` of ROCm 7, `--csv`.

use serde_json::{Map, Value};

/// Heads of columns in lower case, and where the JSON has the same value.
const COLUMNS: &[(&str, &str)] = &[
    ("bdf", "bdf"),
    ("gpu_bdf", "bdf"),
    ("gpu_t", "temperature.hotspot"),
    ("hotspot_temp", "temperature.hotspot"),
    ("hotspot_temperature", "temperature.hotspot"),
    ("hotspot", "temperature.hotspot"),
    ("gfx_clk", "clock.gfx_0.clk"),
    ("gfx_clock", "clock.gfx_0.clk"),
    ("gfx_0_clk", "clock.gfx_0.clk"),
    ("gfx_0_max_clk", "clock.gfx_0.max_clk"),
    ("gfx%", "usage.gfx_activity"),
    ("gfx", "usage.gfx_activity"),
    ("gfx_util", "usage.gfx_activity"),
    ("gfx_activity", "usage.gfx_activity"),
    ("correctable_ecc", "ecc.total_correctable_count"),
    ("single_bit_ecc", "ecc.total_correctable_count"),
    ("single_ecc", "ecc.total_correctable_count"),
    ("total_correctable_count", "ecc.total_correctable_count"),
    ("uncorrectable_ecc", "ecc.total_uncorrectable_count"),
    ("double_bit_ecc", "ecc.total_uncorrectable_count"),
    ("double_ecc", "ecc.total_uncorrectable_count"),
    ("total_uncorrectable_count", "ecc.total_uncorrectable_count"),
    ("pcie_replay", "pcie.replay_count"),
    ("replay_count", "pcie.replay_count"),
    ("market_name", "asic.market_name"),
    ("target_graphics_version", "asic.target_graphics_version"),
    ("num_compute_units", "asic.num_compute_units"),
    ("device_id", "asic.device_id"),
    ("max_pcie_speed", "bus.max_pcie_speed"),
    ("max_pcie_width", "bus.max_pcie_width"),
    ("accelerator_partition", "partition.accelerator_partition"),
    ("compute_partition", "partition.compute_partition"),
    ("memory_partition", "partition.memory_partition"),
];

/// Heads that only `amd-smi monitor` has beside `GPU`.
const OF_MONITOR: &[&str] = &[
    "POWER",
    "GPU_T",
    "HOTSPOT_TEMP",
    "GFX_CLK",
    "GFX_CLOCK",
    "GFX%",
    "GFX_UTIL",
    "VRAM_USAGE",
    "VRAM_USED",
];

/// Records of `amd-smi monitor`; `None` if the text has no such table.
pub(crate) fn monitor(text: &str) -> Option<Vec<Value>> {
    let is_head = |line: &&str| {
        let mut words = line.split_whitespace();
        words.next() == Some("GPU") && words.filter(|it| OF_MONITOR.contains(it)).count() > 0
    };
    let head: Vec<&str> = text.lines().find(is_head)?.split_whitespace().collect();
    let rows = text.lines().skip_while(|line| !is_head(line)).map(cells).filter(|row| row.len() > 1);
    let records: Vec<Value> = rows.filter_map(|row| record(&head, &row)).collect();
    (!records.is_empty()).then_some(records)
}

/// Cells that two blanks or more set apart.
fn cells(line: &str) -> Vec<&str> {
    line.split("  ").map(str::trim).filter(|it| !it.is_empty()).collect()
}

/// The record of a row: each cell at the path of its column. Of a row with more or fewer cells than columns only the number
/// of the GPU is known.
fn record(head: &[&str], row: &[&str]) -> Option<Value> {
    let gpu: u32 = row.first()?.parse().ok()?;
    let mut record = Map::new();
    record.insert("gpu".to_owned(), gpu.into());
    for (name, cell) in head.iter().zip(row).filter(|_| head.len() == row.len()) {
        let name = name.to_ascii_lowercase();
        if let Some((_, path)) = COLUMNS.iter().find(|(it, _)| *it == name) {
            put(&mut record, path, cell);
        }
    }
    Some(Value::Object(record))
}

fn put(record: &mut Map<String, Value>, path: &str, value: &str) {
    let (first, rest) = path.split_once('.').map_or((path, None), |(first, rest)| (first, Some(rest)));
    match rest {
        None => {
            record.entry(first).or_insert_with(|| value.into());
        }
        Some(rest) => {
            let inner = record.entry(first).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                put(inner, rest, value);
            }
        }
    }
}

/// Records of the page that `amd-smi` prints without options: two rows per GPU in a frame, the second with its number.
pub(crate) fn page(text: &str) -> Option<Vec<Value>> {
    let mut lines = text.lines().map(|line| line.trim().trim_matches('|'));
    lines.find(|line| line.trim_start().starts_with("BDF") && line.contains("GPU-Name"))?;
    let mut records = Vec::new();
    let mut board: Option<(&str, &str, Vec<&str>)> = None;
    for line in lines.take_while(|line| !line.trim_start().starts_with("Processes:")) {
        let Some((left, right)) = line.split_once('|') else { continue };
        if let Some((address, name)) =
            left.trim().split_once(char::is_whitespace).filter(|(it, _)| crate::values::bdf(it).is_some())
        {
            board = Some((address, name.trim(), cells(right)));
            continue;
        }
        let Some((address, name, first)) = board.take() else { continue };
        let (left, right) = (cells(left), cells(right));
        let Some(gpu) = left.first().and_then(|it| it.parse::<u32>().ok()) else { continue };
        let mut record = Map::new();
        record.insert("gpu".to_owned(), gpu.into());
        put(&mut record, "bdf", address);
        put(&mut record, "asic.market_name", name);
        // Use of memory, temperature, uncorrectable errors, power; then use of the engine, fan, memory.
        if let [_, temperature, errors, _] = first[..] {
            put(&mut record, "temperature.hotspot", temperature);
            put(&mut record, "ecc.total_uncorrectable_count", errors);
        }
        if let Some(busy) = right.first() {
            put(&mut record, "usage.gfx_activity", busy);
        }
        if let Some((compute, memory)) = left.last().and_then(|it| it.split_once('/')) {
            put(&mut record, "partition.compute_partition", compute);
            put(&mut record, "partition.memory_partition", memory);
        }
        records.push(Value::Object(record));
    }
    (!records.is_empty()).then_some(records)
}

/// Rows of CSV: of `amd-smi` as records, of `rocm-smi` as the object of its JSON.
pub(crate) enum Csv {
    AmdSmi(Vec<Value>),
    RocmSmi(Map<String, Value>),
}

/// Reads CSV of either tool; `None` if the text has no such table. Lines before the head are warnings.
pub(crate) fn csv(text: &str) -> Option<Csv> {
    let mut lines = text
        .lines()
        .map(str::trim)
        .skip_while(|line| !line.starts_with("gpu,") && !line.starts_with("device,"));
    let head = fields(lines.next()?);
    let rows = lines.map(fields);
    if head[0] == "gpu" {
        let names: Vec<&str> = head.iter().map(String::as_str).collect();
        let as_record =
            |row: Vec<String>| record(&names, &row.iter().map(String::as_str).collect::<Vec<_>>());
        let records: Vec<Value> = rows.filter_map(as_record).collect();
        return (!records.is_empty()).then_some(Csv::AmdSmi(records));
    }
    let mut cards = Map::new();
    for row in rows.filter(|row| row.len() == head.len() && row[0].starts_with("card")) {
        let card = head.iter().cloned().zip(row.iter().map(|it| it.as_str().into())).skip(1).collect();
        cards.insert(row[0].clone(), Value::Object(card));
    }
    (!cards.is_empty()).then_some(Csv::RocmSmi(cards))
}

/// Fields of a line of CSV; the tools quote none that has a line break.
fn fields(line: &str) -> Vec<String> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line.as_bytes());
    let record = reader.records().next().and_then(Result::ok);
    record.map(|it| it.iter().map(|field| field.trim().to_owned()).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::amd_smi;

    const PAGE: &str = "+------+\n| AMD-SMI 26.0.1      ROCm version: 7.0.2 |\n|------+-----|\n\
        | BDF                        GPU-Name | Mem-Uti   Temp   UEC       Power-Usage |\n\
        | GPU  HIP-ID  OAM-ID  Partition-Mode | GFX-Uti    Fan               Mem-Usage |\n|=====+=====|\n\
        | 0000:05:00.0    AMD Instinct MI300X | 1 %      51 °C   0           141/750 W |\n\
        |   0       0       7        SPX/NPS1 | 96 %       N/A        12000/196592 MB |\n|-----+-----|\n\
        | 0000:26:00.0    AMD Instinct MI300X | 0 %      N/A     3           140/750 W |\n\
        |   1       1       5        CPX/NPS4 | 0 %        N/A           283/196592 MB |\n+-----+-----+\n\
        | Processes:                           |\n|  0  1234  0000:ff:00.0 | x |\n+----+\n";

    #[test]
    fn the_page_without_options() {
        let (gpus, _) = amd_smi::read(&page(PAGE).unwrap(), "t");
        assert_eq!(gpus.len(), 2);
        assert_eq!(gpus[1].bdf.as_deref(), Some("0000:26:00.0"));
        assert_eq!(gpus[1].ecc_uncorrectable.get(), Some(&3));
        assert_eq!((gpus[0].hotspot_c.get(), gpus[1].hotspot_c.get()), (Some(&51.0), None));
        assert_eq!(gpus[0].busy_percent.get(), Some(&96.0));
        assert_eq!(gpus[1].compute_partition.get().map(String::as_str), Some("CPX"));
        assert_eq!(gpus[0].product.get().map(String::as_str), Some("AMD Instinct MI300X"));
    }

    #[test]
    fn monitor_of_old_and_new_versions() {
        let new = "GPU  POWER   GPU_T   MEM_T   GFX_CLK   GFX%   MEM%      VRAM_USAGE\n  3  305 W   49 °C   43 °C  2106 MHz   97 %    N/A    3.0/191.7 GB\n";
        let old = "GPU  POWER  HOTSPOT_TEMP  GFX_UTIL  GFX_CLOCK  UNCORRECTABLE_ECC  PCIE_REPLAY\n  0  156 W          38 C       0 %    132 MHz                  4            2\n";
        let (gpus, _) = amd_smi::read(&monitor(new).unwrap(), "t");
        assert_eq!(
            (gpus[0].index, gpus[0].clock_mhz.get(), gpus[0].busy_percent.get()),
            (Some(3), Some(&2106.0), Some(&97.0))
        );
        let (gpus, _) = amd_smi::read(&monitor(old).unwrap(), "t");
        assert_eq!(
            (gpus[0].ecc_uncorrectable.get(), gpus[0].replays.get(), gpus[0].hotspot_c.get()),
            (Some(&4), Some(&2), Some(&38.0))
        );
        assert_eq!(monitor("GPU  Temp   AvgPwr\n0    39.0c  88.0W\n"), None);
    }

    #[test]
    fn csv_of_both_tools() {
        let amd = "WARNING: x\n\ngpu,gpu_bdf,market_name,gfx_activity\n0,0000:0c:00.0,\"AMD, Instinct\",12\n1,0000:0d:00.0,N/A,N/A\n2,short\n";
        let Some(Csv::AmdSmi(records)) = csv(amd) else { panic!("not amd-smi") };
        let (gpus, _) = amd_smi::read(&records, "t");
        // The row that is cut is a GPU without values.
        assert_eq!((gpus.len(), gpus[0].busy_percent.get(), gpus[2].has_facts()), (3, Some(&12.0), false));
        assert_eq!(gpus[0].product.get().map(String::as_str), Some("AMD, Instinct"));
        let rocm = "device,Temperature (Sensor junction) (C),GPU use (%)\ncard1,61.0,82\ncard0,60.0,N/A\n";
        let Some(Csv::RocmSmi(cards)) = csv(rocm) else { panic!("not rocm-smi") };
        let gpus = crate::outputs::rocm_smi::read_json(&cards, "t");
        assert_eq!((gpus[0].hotspot_c.get(), gpus[1].busy_percent.get()), (Some(&60.0), Some(&82.0)));
        assert!(csv("a,b\n1,2\n").is_none() && csv("").is_none());
    }
}
