//! Derived counters: their formulas against the vendor's, and their substitutes.

use counters::{catalogue, derived};
use rockhound_metrics::{Definitions, Evaluation, Settings};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use workload::{Options, Workload};

/// A dispatch: time in ns, grid, and counters.
type Dispatch<'a> = (u64, u64, &'a [(&'a str, f64)]);

/// A long recording of one dispatch after another.
fn recording(sysinfo: &str, dispatches: &[Dispatch<'_>]) -> Workload {
    let mut csv = String::from(
        "Dispatch_ID,Kernel_Name,Grid_Size,Workgroup_Size,Start_Timestamp,End_Timestamp,Counter_Name,Counter_Value\n",
    );
    for (id, (time, grid, counters)) in dispatches.iter().enumerate() {
        let start = 1_000_000 * (id as u64 + 1);
        for (name, value) in *counters {
            writeln!(csv, "{id},k,{grid},256,{start},{},{name},{value}", start + time).unwrap();
        }
    }
    let mut folder = BTreeMap::from([("pmc_perf.csv".to_string(), csv.into_bytes())]);
    if !sysinfo.is_empty() {
        folder.insert("sysinfo.csv".to_string(), sysinfo.as_bytes().to_vec());
    }
    workload::read(&folder, &Options::default()).unwrap()
}

const MI300X: &str = "gpu_arch,cu_per_gpu,num_xcd,max_sclk,hbm_bw,max_waves_per_cu,wave_size\n\
                      gfx942,304,8,2100,5324.8,32,64\n";

/// The value of a metric over all dispatches, and what it is from.
fn evaluated(w: &Workload, metric: &str) -> (Result<f64, String>, Option<String>) {
    let target = w.machine.target().unwrap_or_default();
    let compiled = Definitions::built_in().compile(target).unwrap();
    let rows = (0..w.dispatches.len() as u32).collect();
    let e = Evaluation::new(&compiled, w, rows, Settings::default());
    let from = e.taken_from(metric).map(ToString::to_string);
    (e.value(metric).map_err(|missing| missing.to_string()), from)
}

#[test]
fn derived_counters_stand_in_for_what_was_not_recorded() {
    type Case<'a> = (&'a str, &'a [Dispatch<'a>], &'a str, Option<f64>, Option<&'a str>);
    let mib: f64 = 1024.0;
    let cases: &[Case<'_>] = &[
        // 1 MiB in 1000 ns.
        (
            MI300X,
            &[(1000, 256, &[("FETCH_SIZE", mib)])],
            "fabric.read_bandwidth",
            Some(1048.576),
            Some("FETCH_SIZE"),
        ),
        (
            "",
            &[(1000, 256, &[("FetchSize", mib)])],
            "fabric.read_bandwidth",
            Some(1048.576),
            Some("FetchSize"),
        ),
        (
            MI300X,
            &[(1000, 256, &[("FETCH_SIZE", mib), ("WRITE_SIZE", mib)])],
            "roofline.hbm_bandwidth",
            Some(2097.152),
            Some("FETCH_SIZE, WRITE_SIZE"),
        ),
        // Half of it is not all of it.
        (MI300X, &[(1000, 256, &[("FETCH_SIZE", mib)])], "roofline.hbm_bandwidth", None, None),
        // Recorded counters take precedence over substitutes.
        (
            MI300X,
            &[(1000, 256, &[("L2CacheHit", 10.0), ("TCC_HIT_sum", 30.0), ("TCC_MISS_sum", 70.0)])],
            "l2.hit_rate",
            Some(30.0),
            None,
        ),
        (
            MI300X,
            &[(1000, 256, &[("L2CacheHit", 10.0), ("TCC_HIT_sum", 30.0)])],
            "l2.hit_rate",
            Some(10.0),
            Some("L2CacheHit"),
        ),
        // A dispatch counts as much as its time.
        (
            MI300X,
            &[(3000, 256, &[("VALUBusy", 80.0)]), (1000, 256, &[("VALUBusy", 40.0)])],
            "issue.valu",
            Some(70.0),
            Some("VALUBusy"),
        ),
        // And as its waves where it is a count per wave: 4 waves of 10 and 12 of 20, in two dispatches.
        (
            MI300X,
            &[
                (1000, 256, &[("VALUInsts", 10.0), ("Wavefronts", 4.0)]),
                (1000, 768, &[("VALUInsts", 20.0), ("Wavefronts", 12.0)]),
            ],
            "instructions.valu_and_matrix",
            Some(140.0),
            Some("VALUInsts, Wavefronts"),
        ),
        (
            MI300X,
            &[(1000, 256, &[("OccupancyPercent", 25.0)])],
            "wave.occupancy",
            Some(2432.0),
            Some("OccupancyPercent"),
        ),
        // The part of all slots is known of a GPU whose size is not.
        (
            "",
            &[(1000, 256, &[("OccupancyPercent", 25.0)])],
            "wave.occupancy_share",
            Some(25.0),
            Some("OccupancyPercent"),
        ),
        ("", &[(1000, 256, &[("OccupancyPercent", 25.0)])], "wave.occupancy", None, None),
        (
            MI300X,
            &[(1000, 256, &[("SALUBusy", 5.0)])],
            "issue.salu",
            Some(5.0),
            Some("SALUBusy (without scalar loads)"),
        ),
        (
            MI300X,
            &[(1000, 256, &[("VALUUtilization", 50.0)])],
            "issue.active_threads",
            Some(32.0),
            Some("VALUUtilization"),
        ),
        // A derived counter asked for itself: recorded, or computed from what was.
        (MI300X, &[(1000, 256, &[("MemUnitBusy", 7.0)])], "MemUnitBusy", Some(7.0), Some("MemUnitBusy")),
        (
            MI300X,
            &[(
                1000,
                256,
                &[("TCC_BUBBLE_sum", 8.0), ("TCC_EA0_RDREQ_sum", 8.0), ("TCC_EA0_RDREQ_32B_sum", 0.0)],
            )],
            "FETCH_SIZE",
            Some(1.0),
            None,
        ),
        (
            "",
            &[(1000, 256, &[("TCC_EA0_WRREQ_sum", 32.0), ("TCC_EA0_WRREQ_64B_sum", 0.0)])],
            "WRITE_SIZE",
            Some(1.0),
            None,
        ),
    ];
    for (sysinfo, dispatches, metric, value, from) in cases {
        let w = recording(sysinfo, dispatches);
        let (found, found_from) = evaluated(&w, metric);
        let close = match (&found, value) {
            (Ok(found), Some(value)) => (found - value).abs() < 1e-9 * value,
            (found, value) => found.is_err() && value.is_none(),
        };
        assert!(close, "{metric} of {dispatches:?}: {found:?}, not {value:?}");
        let found_from = found_from.filter(|_| found.is_ok());
        assert_eq!(found_from.as_deref(), *from, "{metric} of {dispatches:?}");
    }
}

#[test]
fn what_is_missing_is_said_as_if_nothing_could_stand_in() {
    let w = recording(MI300X, &[(1000, 256, &[("SQ_WAVES", 4.0)])]);
    for (metric, reason) in [
        ("l2.hit_rate", "needs TCC_HIT, TCC_MISS: not recorded"),
        ("MemUnitBusy", "profilers do not have it on this GPU"),
        ("LdsUtil", "profilers do not have it on this GPU"),
    ] {
        assert_eq!(evaluated(&w, metric).0.unwrap_err(), reason);
    }
    let unknown = recording("", &[(1000, 256, &[("SQ_WAVES", 4.0)])]);
    for (metric, reason) in [
        ("l2.bandwidth", "it differs between GPUs, and the recording does not say which it is from"),
        (
            "instructions.int32",
            "not every GPU has SQ_INSTS_VALU_INT32, and the recording does not say which it is from",
        ),
    ] {
        assert_eq!(evaluated(&unknown, metric).0.unwrap_err(), reason);
    }
}

#[test]
fn one_value_of_all_instances() {
    let w = recording(
        "gpu_arch,cu_per_gpu,num_xcd\ngfx90a,2,1\n",
        &[(1000, 256, &[("TA_TA_BUSY[0]", 10.0), ("TA_TA_BUSY[1]", 40.0), ("GRBM_GUI_ACTIVE", 100.0)])],
    );
    for (metric, value) in [("TA_BUSY_max", 40.0), ("TA_BUSY_min", 10.0), ("MemUnitBusy", 40.0)] {
        assert_eq!(evaluated(&w, metric).0, Ok(value), "{metric}");
    }
    let recorded = recording(
        "gpu_arch,cu_per_gpu,num_xcd\ngfx90a,2,1\n",
        &[(1000, 256, &[("TA_TA_BUSY_max", 40.0), ("GRBM_GUI_ACTIVE", 100.0)])],
    );
    assert_eq!(evaluated(&recorded, "MemUnitBusy").0, Ok(40.0));
}

/// The vendor's formulas, by counter and target.
fn of_the_vendor(text: &str) -> BTreeMap<(String, String), String> {
    let (mut name, mut targets, mut out) = (String::new(), Vec::new(), BTreeMap::new());
    let (mut listing, mut formula): (bool, Option<String>) = (false, None);
    for line in text.lines().chain([""]) {
        if let Some(more) = &mut formula {
            // A long formula goes on in lines that are indented further.
            if line.starts_with("        ") {
                more.push_str(line.trim());
                continue;
            }
            for target in &targets {
                out.insert((name.clone(), String::clone(target)), more.clone());
            }
            formula = None;
        }
        if let Some(next) = line.strip_prefix("  - name: ") {
            name = next.trim().to_string();
        } else if line.contains("architectures:") {
            (targets, listing) = (Vec::new(), true);
        } else if let Some(target) = line.strip_prefix("      - ").filter(|_| listing) {
            targets.push(target.trim().to_string());
        } else {
            listing = false;
            formula = line.strip_prefix("      expression: ").map(|it| it.trim().to_string());
        }
    }
    out
}

/// A small reader of the vendor's notation: values of names come from `value`.
struct Vendor<'a> {
    text: &'a [u8],
    at: usize,
    value: &'a mut dyn FnMut(&str) -> f64,
}

impl Vendor<'_> {
    fn peek(&mut self) -> u8 {
        while self.text.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn sum(&mut self) -> f64 {
        let mut left = self.product();
        while let sign @ (b'+' | b'-') = self.peek() {
            self.at += 1;
            let right = self.product();
            left = if sign == b'+' { left + right } else { left - right };
        }
        left
    }

    fn product(&mut self) -> f64 {
        let mut left = self.factor();
        while let sign @ (b'*' | b'/') = self.peek() {
            self.at += 1;
            let right = self.factor();
            left = if sign == b'*' { left * right } else { left / right };
        }
        left
    }

    fn factor(&mut self) -> f64 {
        if self.peek() == b'(' {
            self.at += 1;
            let inner = self.sum();
            assert_eq!(self.peek(), b')');
            self.at += 1;
            return inner;
        }
        let word = self.word();
        match word.as_str() {
            // What the sum over instances is and what the largest is follows from the name alone here.
            "reduce" => {
                self.at += 1;
                let before = self.at;
                let counter = self.word();
                // GRBM has one instance here; of others the largest is recorded as such.
                if self.peek() == b','
                    && !counter.starts_with("GRBM")
                    && self.text[self.at..].starts_with(b",max)")
                {
                    self.at += b",max)".len();
                    return (self.value)(&format!("{counter}_max"));
                }
                self.at = before;
                let inner = self.sum();
                self.at += 1;
                let how = self.word();
                assert_eq!(self.peek(), b')');
                self.at += 1;
                assert!(matches!(how.as_str(), "sum" | "max"), "{how}");
                inner
            }
            "accumulate" => {
                self.at += 1;
                let level = self.word();
                assert_eq!(self.peek(), b',');
                self.at += 1;
                let resolution = self.word();
                assert_eq!(self.peek(), b')');
                self.at += 1;
                let value = (self.value)(&format!("{level}_ACCUM"));
                if resolution == "LOW_RES" { value / 4.0 } else { value }
            }
            word => word.parse().unwrap_or_else(|_| (self.value)(word)),
        }
    }

    fn word(&mut self) -> String {
        self.peek();
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|c| !(c.is_ascii_alphanumeric() || *c == b'_')).unwrap_or(rest.len());
        self.at += end;
        String::from_utf8(rest[..end].to_vec()).unwrap()
    }
}

/// A value that depends on the name of a counter: instances have equal values here, so only sums depend on
/// their number.
fn made_up(name: &str) -> f64 {
    name.bytes().fold(7u64, |sum, byte| (sum * 31 + u64::from(byte)) % 9973) as f64 + 1.0
}

#[test]
fn formulas_equal_those_of_the_vendor() {
    let Some(path) = testkit::shared("facts/counter-definitions.yaml") else { return };
    let vendor = of_the_vendor(&std::fs::read_to_string(path).unwrap());
    let mut compared = 0;
    let mut named = BTreeSet::new();
    for (name, target) in vendor.keys() {
        if !catalogue().targets().contains(target) || name.ends_with("_sum") {
            continue;
        }
        let it = derived().find(name).unwrap_or_else(|| panic!("{name} is not known"));
        let bit = catalogue().target_bit(target);
        assert!(it.formulas.iter().any(|formula| formula.targets & bit != 0), "{name} on {target}");
        named.insert(name.clone());
        // One XCD: the largest of it and the sum are one. 4 CUs of one SIMD array, one channel, one of
        // everything.
        let recorded: std::cell::RefCell<BTreeMap<String, f64>> = Default::default();
        let expected = vendor_value(&vendor, name, target, &recorded);
        let counters: Vec<(String, f64)> = recorded.into_inner().into_iter().collect();
        let list: Vec<(&str, f64)> = counters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let list = if list.is_empty() { vec![("SQ_WAVES", 1.0)] } else { list };
        let sysinfo = format!(
            "gpu_arch,cu_per_gpu,num_xcd,se_per_gpu,max_waves_per_cu,wave_size,total_l2_chan,max_sclk\n{target},4,1,2,32,64,1,1000\n"
        );
        let w = recording(&sysinfo, &[(1000, 256, &list)]);
        let (found, _) = evaluated(&w, &it.name);
        let found = found.unwrap_or_else(|e| panic!("{name} on {target}: {e} of {list:?}"));
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs(),
            "{name} on {target}: {found}, not {expected}, of {list:?}"
        );
        compared += 1;
    }
    println!("{compared} formulas of {} derived counters are equal", named.len());
    assert!(compared > 300, "{compared}");
}

fn vendor_value(
    vendor: &BTreeMap<(String, String), String>,
    name: &str,
    target: &str,
    recorded: &std::cell::RefCell<BTreeMap<String, f64>>,
) -> f64 {
    let constant = match name {
        "CU_NUM" => Some(4.0),
        "SIMD_NUM" => Some(16.0),
        "SE_NUM" => Some(2.0),
        "MAX_WAVE_SIZE" => Some(64.0),
        _ => None,
    };
    if let Some(value) = constant {
        return value;
    }
    if let Some(formula) = vendor.get(&(name.to_string(), target.to_string()))
        && !name.ends_with("_sum")
    {
        // Of one instance the largest, the least and the mean are its value.
        let whole = formula.strip_prefix("reduce(").and_then(|it| it.strip_suffix(')')?.split_once(','));
        if let Some((counter, of @ ("max" | "min" | "avr"))) = whole {
            return instances(counter, of, recorded);
        }
        let mut value = |name: &str| vendor_value(vendor, name, target, recorded);
        let mut reader = Vendor { text: formula.as_bytes(), at: 0, value: &mut value };
        let out = reader.sum();
        assert_eq!(reader.at, formula.len(), "{formula}");
        return out;
    }
    let value = made_up(name);
    recorded.borrow_mut().insert(name.to_string(), value);
    value
}

/// The value of a counter recorded as the largest or least of its instances, or the mean of what is one here.
fn instances(counter: &str, of: &str, recorded: &std::cell::RefCell<BTreeMap<String, f64>>) -> f64 {
    let value = made_up(counter);
    if of == "avr" {
        // Our formula of the mean divides the sum by the number of instances: CUs or channels.
        let count = if counter.starts_with("TCC") { 1.0 } else { 4.0 };
        recorded.borrow_mut().insert(format!("{counter}_sum"), value * count);
    } else {
        recorded.borrow_mut().insert(format!("{counter}_{of}"), value);
    }
    value
}
