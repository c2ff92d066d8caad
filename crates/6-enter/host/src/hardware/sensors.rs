//! Clocks and temperatures of AMD GPUs, as the driver's files give them.
//!
//! A missing file is an unknown value.

use std::collections::BTreeMap;
use std::path::Path;

/// AMD's number on the PCI bus.
const VENDOR: &str = "0x1002";
/// Temperature difference of passes that is reported, degrees.
const DEGREES: f64 = 10.0;
/// Relative clock difference of passes that is reported.
const PART: f64 = 0.1;

/// Sensor values of one GPU.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Reading {
    /// Clock of the engine, MHz.
    pub clock_mhz: Option<f64>,
    /// Temperature of the hottest place, degrees Celsius.
    pub hotspot_c: Option<f64>,
}

/// Readings by PCI address.
pub type Readings = BTreeMap<String, Reading>;

/// Reads the sensors of the machine below a folder; `/` is this one.
pub fn read(root: &Path) -> Readings {
    let entries = std::fs::read_dir(root.join("sys/bus/pci/devices")).into_iter().flatten().flatten();
    let text = |path: std::path::PathBuf| std::fs::read_to_string(path).ok();
    let amd = entries.filter(|it| text(it.path().join("vendor")).is_some_and(|it| it.trim() == VENDOR));
    let read = amd.map(|entry| {
        let clock = text(entry.path().join("pp_dpm_sclk")).and_then(|it| current_clock(&it));
        (
            entry.file_name().to_string_lossy().into_owned(),
            Reading { clock_mhz: clock, hotspot_c: hotspot(&entry.path()) },
        )
    });
    read.filter(|(_, it)| *it != Reading::default()).collect()
}

/// The line with a star: `1: 2100Mhz *`.
fn current_clock(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.trim_end().ends_with('*'))?;
    let word = line.split_whitespace().find(|word| word.to_ascii_lowercase().ends_with("mhz"))?;
    word[..word.len() - 3].parse().ok()
}

fn hotspot(device: &Path) -> Option<f64> {
    let monitors = std::fs::read_dir(device.join("hwmon")).ok()?.flatten();
    let files = monitors.flat_map(|it| std::fs::read_dir(it.path()).into_iter().flatten().flatten());
    let label = files.map(|it| it.path()).find(|path| {
        path.to_string_lossy().ends_with("_label")
            && std::fs::read_to_string(path).is_ok_and(|it| it.trim() == "junction")
    })?;
    let input = label.to_string_lossy().replace("_label", "_input");
    std::fs::read_to_string(input).ok()?.trim().parse::<f64>().ok().map(|milli| milli / 1000.0)
}

/// Difference between a GPU's state after a pass and after the first one, in words, if it makes the passes
/// incomparable.
pub fn drift(first: &Readings, now: &Readings) -> Option<String> {
    first.iter().find_map(|(device, first)| {
        let now = now.get(device)?;
        let clocks = first.clock_mhz.zip(now.clock_mhz).filter(|(a, b)| (a - b).abs() > PART * a.max(*b));
        let degrees = first.hotspot_c.zip(now.hotspot_c).filter(|(a, b)| (a - b).abs() > DEGREES);
        let clocks = clocks.map(|(a, b)| format!("at {b:.0} MHz, and {a:.0} after the first pass"));
        let degrees = degrees.map(|(a, b)| format!("at {b:.0} °C, and {a:.0} after the first pass"));
        Some(format!("GPU {device} is {}", clocks.or(degrees)?))
    })
}

/// File of the readings in a recording.
pub const FILE: &str = "pmc_sensors.csv";
/// Its header.
pub const HEADER: &str = "Pass,When,Device,Clock_MHz,Hotspot_C\n";

/// Lines of the file for one pass; unknown values are empty.
pub fn lines(pass: usize, when: &str, readings: &Readings) -> String {
    let number = |value: Option<f64>| value.map_or_else(String::new, |it| it.to_string());
    let line = |(device, it): (&String, &Reading)| {
        format!("{pass},{when},{device},{},{}\n", number(it.clock_mhz), number(it.hotspot_c))
    };
    readings.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensors_are_read_and_drift_is_told() {
        let scratch = testkit::Scratch::new("sensors");
        let device = "sys/bus/pci/devices/0000:c1:00.0";
        for (name, text) in [
            ("vendor", "0x1002\n"),
            ("pp_dpm_sclk", "0: 132Mhz\n1: 2100Mhz *\n"),
            ("hwmon/hwmon3/temp1_label", "edge\n"),
            ("hwmon/hwmon3/temp1_input", "40000\n"),
            ("hwmon/hwmon3/temp2_label", "junction\n"),
            ("hwmon/hwmon3/temp2_input", "55000\n"),
        ] {
            let path = scratch.path(&format!("{device}/{name}"));
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let first = read(&scratch.path(""));
        let reading = Reading { clock_mhz: Some(2100.0), hotspot_c: Some(55.0) };
        assert_eq!(first, Readings::from([("0000:c1:00.0".to_owned(), reading)]));
        assert_eq!(lines(2, "after", &first), "2,after,0000:c1:00.0,2100,55\n");
        for (clock_mhz, hotspot_c, expected) in [
            (Some(2000.0), Some(60.0), None),
            (None, None, None),
            (Some(1800.0), None, Some("GPU 0000:c1:00.0 is at 1800 MHz, and 2100 after the first pass")),
            (Some(2100.0), Some(70.0), Some("GPU 0000:c1:00.0 is at 70 °C, and 55 after the first pass")),
        ] {
            let now = Readings::from([("0000:c1:00.0".to_owned(), Reading { clock_mhz, hotspot_c })]);
            assert_eq!(drift(&first, &now).as_deref(), expected);
        }
        assert!(read(&scratch.path("nowhere")).is_empty());
    }
}
