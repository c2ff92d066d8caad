//! A workload as the folder that rocprof-compute 3.3 and newer writes: a row per dispatch and counter in one
//! file.
//!
//! In this form, the sum of a level is a separate counter, `SQ_LEVEL_WAVES_ACCUM`, without a companion file.

use super::{beside, quoted, time};
use crate::model::Counter;
use crate::recording::Workload;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const HEADER: &str = "GPU_ID,Dispatch_ID,Grid_Size,Workgroup_Size,LDS_Per_Workgroup,Scratch_Per_Workitem,Arch_VGPR,Accum_VGPR,SGPR,\
     Kernel_Name,Start_Timestamp,End_Timestamp,Kernel_ID,Counter_Name,Counter_Value\n";

/// Version of `sysinfo.csv`, equal to the version of the tool.
const VERSION: &str = "3";

/// The files of the folder, by name.
pub fn write_long(w: &Workload) -> BTreeMap<String, Vec<u8>> {
    let mut facts = w.machine.facts.clone();
    facts.insert("version".to_string(), VERSION.to_string());
    // The name that newer versions have.
    if let Some(channels) = facts.get("num_hbm_channels").cloned() {
        facts.entry("num_memory_channels".to_string()).or_insert(channels);
    }
    let mut files = beside(w, &facts);
    files.insert("pmc_perf.csv".to_string(), table(w));
    let settings = files.entry("profiling_config.yaml".to_string()).or_default();
    if !w.settings.contains_key("format_rocprof_output") {
        settings.extend_from_slice(b"format_rocprof_output: rocpd\n");
    }
    files
}

/// The counters that are written: one of a companion run only where the main run has none of its name.
pub(super) fn counters(w: &Workload) -> Vec<&Counter> {
    let own = |c: &&Counter| c.run.is_none() || w.counters.get(&c.name).is_none();
    w.counters.iter().filter(own).collect()
}

/// Name with the instance: `TCC_HIT[3]`.
pub(super) fn name(c: &Counter) -> String {
    c.instance.map_or_else(|| c.name.clone(), |instance| format!("{}[{instance}]", c.name))
}

fn table(w: &Workload) -> Vec<u8> {
    let d = &w.dispatches;
    let counters = counters(w);
    let names: Vec<String> = counters.iter().map(|c| quoted(&name(c))).collect();
    let mut out = String::from(HEADER);
    for row in 0..d.len() {
        let mut head = format!("{},{}", d.gpu.get(row).copied().unwrap_or(0), d.id[row]);
        for values in [&d.grid, &d.workgroup, &d.lds, &d.scratch, &d.arch_vgpr, &d.accum_vgpr, &d.sgpr] {
            head.push(',');
            if let Some(value) = values.get(row) {
                let _ = write!(head, "{value}");
            }
        }
        let _ = write!(head, ",{}", quoted(w.kernel_of(row)));
        for (times, fraction) in [(&d.start, &d.start_fraction), (&d.end, &d.end_fraction)] {
            head.push(',');
            if let Some(Some(whole)) = times.get(row) {
                time(&mut head, *whole, fraction.get(row).unwrap_or(0.0));
            }
        }
        let _ = write!(head, ",{}", d.kernel[row]);
        for (counter, name) in counters.iter().zip(&names) {
            let recorded = w.multiplexed.as_ref().is_none_or(|it| it.recorded(counter, row));
            if let Some(value) = counter.values.get(row).filter(|_| recorded) {
                let _ = writeln!(out, "{head},{name},{value}");
            }
        }
    }
    out.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Generation, Options};

    #[test]
    fn what_is_written_is_read() {
        let wide = "Dispatch_ID,GPU_ID,Grid_Size,Workgroup_Size,Kernel_Name,Start_Timestamp,End_Timestamp,SQ_WAVES,TCC_HIT[0],TCC_HIT[1]\n\
             3,2,64,64,\"a(int, b)\",10,20.25,4,1,2\n7,2,128,64,c,30,50,8,3,\n";
        let files = BTreeMap::from([
            ("pmc_perf.csv".to_string(), wide.as_bytes().to_vec()),
            ("sysinfo.csv".to_string(), b"gpu_arch,version,num_hbm_channels\ngfx942,2,128\n".to_vec()),
        ]);
        let w = crate::read(&files, &Options::default()).unwrap();
        let written = write_long(&w);
        let text = String::from_utf8(written["pmc_perf.csv"].clone()).unwrap();
        assert_eq!(text.lines().nth(1), Some("2,3,64,64,,,,,,\"a(int, b)\",10,20.25,0,SQ_WAVES,4"), "{text}");
        let back = crate::read(&written, &Options::default()).unwrap();
        assert_eq!(back.generation, Generation::Long);
        assert_eq!((&back.dispatches, &back.kernels), (&w.dispatches, &w.kernels));
        for counter in w.counters.iter() {
            let found = back.counters.iter().find(|it| name(it) == name(counter)).unwrap();
            assert_eq!(found.values.iter().collect::<Vec<_>>(), counter.values.iter().collect::<Vec<_>>());
        }
        let facts = String::from_utf8(written["sysinfo.csv"].clone()).unwrap();
        assert!(facts.starts_with("gpu_arch,num_hbm_channels,num_memory_channels,version\n"), "{facts}");
        assert_eq!(back.settings.get("format_rocprof_output").map(String::as_str), Some("rocpd"));
    }

    #[test]
    fn the_columns_are_those_of_the_vendor() {
        let Some(folder) = testkit::shared("workloads/vcopy/MI300X_A1_rocpd") else { return };
        let text = String::from_utf8(testkit::files(&folder)["pmc_perf.csv"].clone()).unwrap();
        assert_eq!(text.lines().next(), Some(HEADER.trim_end()));
    }
}
