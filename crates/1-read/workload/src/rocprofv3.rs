//! rocprofv3's CSV files: counters, or kernel traces alone.
//!
//! Files in the folder of one pass (`pmc_1`) are from processes that ran at the same time; any other file is
//! a separate run.

use crate::agent;
use crate::check;
use crate::folder::Files;
use crate::gather::Gather;
use crate::long::add_csv;
use crate::model::{Generation, Machine};
use crate::multiplex;
use crate::passes::Passes;
use crate::problem::{Error, Problems};
use crate::recording::Workload;
use crate::side;
use crate::table;

/// Reads the files.
pub(crate) fn folder(
    files: &Files<'_>,
    collections: &[String],
    traces: &[String],
    mut problems: Problems,
) -> Result<Workload, Error> {
    let main = if collections.is_empty() { traces } else { collections };
    let mut gather = Gather::default();
    let mut rows = 0;
    let mut failed = None;
    let passes = Passes::of(main);
    for (name, part) in passes.files() {
        let added = files.bytes(name).and_then(|b| add_csv(&mut gather, part, name, &b, &mut problems));
        match added {
            Ok(n) => rows += n,
            Err(e) if main.len() == 1 => return Err(e),
            Err(e) => {
                problems.error(name, side::first_line(&e.to_string()), "the file is left out");
                failed = Some(e);
            }
        }
    }
    if rows == 0 {
        let without = || {
            files.bytes(&main[0]).map_or_else(|error| error, |bytes| table::without_rows(&main[0], &bytes))
        };
        return Err(failed.unwrap_or_else(without));
    }
    let mut w = gather.finish(Generation::Rocprofv3, passes.sources(), &mut problems)?;
    if !collections.is_empty() && w.dispatches.start.iter().all(Option::is_none) {
        // The trace of the same process carries the times.
        let stem = collections[0].trim_end_matches("counter_collection.csv");
        let own = format!("{stem}kernel_trace.csv");
        let trace = if files.has(&own) { own } else { traces.first().cloned().unwrap_or(own) };
        if let Some(bytes) = side::try_bytes(files, &trace, &mut problems) {
            side::times(&trace, &bytes, &mut w.dispatches, &w.kernels, &mut problems);
            w.sources.push(trace);
        }
    }
    w.machine = if files.has("sysinfo.csv") {
        side::machine(files, &mut problems)
    } else {
        agents(files, &main[0], &mut problems)
    };
    w.ceilings = side::ceilings(files, &w.machine, &mut problems);
    w.settings = side::settings(files, &mut problems);
    multiplex::fill(&mut w, &mut problems);
    check::workload(&mut w, problems);
    Ok(w)
}

/// The agents of a file: of several tables of them that whose name begins like it.
fn agents(files: &Files<'_>, of: &str, problems: &mut Problems) -> Machine {
    let mut machine = Machine::default();
    let alike = |name: &str| name.bytes().zip(of.bytes()).take_while(|(a, b)| a == b).count();
    let found = files.names().filter(|n| n.ends_with("agent_info.csv"));
    // The first of equally similar names.
    let found = found.reduce(|best, name| if alike(name) > alike(best) { name } else { best });
    let Some(name) = found.map(str::to_string) else {
        problems.warn(
            "agent_info.csv",
            0,
            crate::ABSENT,
            "peaks and everything else that needs the GPU's size or clock are n/a; name the GPU to fill them in",
        );
        return machine;
    };
    let Some(bytes) = side::try_bytes(files, &name, problems) else { return machine };
    let agents = match rocprof::agents::table(&bytes) {
        Ok(agents) => agents,
        Err(error) => {
            problems.error(&name, error.to_string(), "the machine is not known");
            return machine;
        }
    };
    let Some(gpu) = agents.iter().find(|agent| agent.is_gpu) else {
        problems.warn(&name, 0, "no GPU is listed", "the machine is not known");
        return machine;
    };
    machine.facts.extend(agent::facts(gpu));
    if let (Ok(per_simd), Some(simds)) =
        (gpu.fact("max_waves_per_simd").parse::<f64>(), machine.number("simd_per_cu"))
    {
        machine.facts.insert("max_waves_per_cu".to_string(), (per_simd * simds).to_string());
    }
    machine
}
