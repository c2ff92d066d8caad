//! `doctor`: facts and checks of machines, and differences within a fleet.

use rules::{HostEvidence, Profile};
use sorting::Sort;
use std::collections::BTreeMap;
use system::command::Command;
use system::{Environment, Fact, Machine};
use view::{
    Answer, DOCTOR_SCHEMA, Examined, FileError, Finding, HostCheck, HostFact, HostVerdict, Input, Machines,
    OddOne, Place, Severity, SourceLine,
};

/// The answer on machines: checks that fail or warn are findings too.
pub fn answer(
    machines: Vec<Examined>,
    odd: Vec<OddOne>,
    profile: Option<Profile>,
    errors: Vec<FileError>,
) -> Answer<Machines> {
    let input = |it: &Examined| Input::new(&it.name, &it.name, it.sources.join(", "));
    let inputs = machines.iter().map(input).collect();
    let findings =
        machines.iter().flat_map(|it| it.checks.iter().filter_map(|check| finding(it, check))).collect();
    let part = Machines { profile: profile.map(Profile::as_str), machines, odd };
    Answer { inputs, findings, errors, ..Answer::new(DOCTOR_SCHEMA, part) }
}

/// A check that fails or warns, as a finding.
pub(crate) fn finding(machine: &Examined, check: &HostCheck) -> Option<Finding> {
    let severity = match check.verdict {
        HostVerdict::Fail => Severity::Severe,
        HostVerdict::Warn => Severity::Warning,
        HostVerdict::Unknown | HostVerdict::Pass => return None,
    };
    let remedy = match &check.set {
        Some(set) => format!("Set it by: {set}"),
        None => format!("Wanted: {}.", check.wanted),
    };
    let file = check.readings.first().map_or(&machine.name, |it| &it.from).clone();
    let place = Place { source: Some(SourceLine { file, line: 1, function: None }), ..Place::default() };
    let message = format!("{}, {}: {}", machine.name, check.check, check.message);
    let mut found = Finding::new(check.rule, severity, message, remedy).with_places([place]);
    found.gate.clone_from(&check.gate);
    for reading in &check.readings {
        found = found.with_evidence(&reading.from, &reading.value);
    }
    Some(found)
}

/// True for the name of a check, or of a rule with checks, in any case.
pub fn is_check(name: &str) -> bool {
    rules::check_names()
        .any(|(check, rule)| check.eq_ignore_ascii_case(name) || rule.eq_ignore_ascii_case(name))
}

/// The machine with the environment that a command gives its job: a container and `srun --export=NONE` keep
/// the shell's variables out, but for those passed by name.
pub fn for_command(machine: &Machine, command: Option<&Command>) -> Machine {
    let mut machine = machine.clone();
    let Some(command) = command else { return machine };
    let shell = machine.environment.get().cloned();
    let mut environment = shell.clone().unwrap_or_default();
    let mut from = machine.environment.from().unwrap_or("the command line").to_owned();
    if let Some(program) = &command.isolated_by {
        environment = Environment::default();
        for name in &command.passed {
            if let Some(value) = shell.as_ref().and_then(|it| it.get(name)) {
                environment.set(name, value);
            }
        }
        from = format!("the command line of {program}");
    } else if shell.is_none() && command.environment.is_empty() {
        return machine;
    }
    for (name, value) in &command.environment {
        environment.set(name, value);
    }
    machine.environment = Fact::known(environment, from);
    machine
}

/// Examines a machine, with its environment and the command that is to run on it.
pub fn examine(machine: &Machine, command: Option<&Command>, profile: Option<Profile>) -> Examined {
    Examined {
        name: machine.name.clone(),
        sources: machine.sources.clone(),
        facts: facts(machine),
        checks: rules::check_host(&HostEvidence { machine, command, profile }),
        notes: Vec::new(),
    }
}

/// Words in the names of sources that tell about programs and their containers.
const OF_PROGRAMS: [&str; 7] =
    ["environment", "vLLM", "Inductor", "compose", "Kubernetes", "script", "Dockerfile"];

/// Keeps only facts about the environment and the command.
pub fn keep_environment(examined: &mut Examined) {
    const OF_JOBS: [&str; 7] = ["LCH006", "SYS005", "SYS006", "SYS007", "SYS008", "SYS009", "SYS017"];
    examined.checks.retain(|check| {
        let of_container = check.rule == "SYS016" && check.verdict != HostVerdict::Unknown;
        check.rule.starts_with("ENV")
            || OF_JOBS.contains(&check.rule)
            || of_container
            || check.check == "numa-one-node"
    });
    // The log of a server describes the server, not the machine.
    examined.facts.retain(|fact| fact.name == "attention");
    let of_program = |source: &String| OF_PROGRAMS.iter().any(|it| source.contains(it));
    examined.sources.retain(of_program);
}

fn facts(machine: &Machine) -> Vec<HostFact> {
    let known = |name, value: String| HostFact { name, value, known: true };
    let of = |name, fact: &Fact<String>| match fact {
        Fact::Known { value, .. } => known(name, value.clone()),
        Fact::Unknown { reason } => HostFact { name, value: reason.clone(), known: false },
    };
    let mut facts = vec![match &machine.gpus {
        Fact::Known { value, .. } => known("GPUs", gpus(value)),
        Fact::Unknown { reason } => HostFact { name: "GPUs", value: reason.clone(), known: false },
    }];
    facts.push(of("driver", &machine.driver));
    facts.push(of("ROCm", &machine.rocm));
    facts.push(of("CPU", &machine.cpu_model));
    facts.push(of(
        "kernel",
        &machine.kernel.clone().map(|text| {
            text.split(" (").next().unwrap_or_default().trim_start_matches("Linux version ").to_owned()
        }),
    ));
    if let Some(system) = machine.system.get() {
        facts.push(known("system", system.clone()));
    }
    if !machine.versions.is_empty() {
        let versions = machine.versions.iter().map(|(name, version)| format!("{name} {version}"));
        facts.push(known("versions", versions.collect::<Vec<_>>().join(", ")));
    }
    let surroundings = &machine.surroundings;
    if let Some(sign) = &surroundings.container {
        facts.push(known("container", format!("yes: {sign}")));
    }
    if let Some(sign) = &surroundings.virtual_machine {
        facts.push(known("virtual machine", format!("yes: {sign}")));
    }
    if let Some((backend, _)) = machine.server_log.as_ref().and_then(|log| log.backend) {
        facts.push(known("attention", backend.to_owned()));
    }
    facts
}

/// `8 x AMD Instinct MI300X, gfx942, 304 CUs, 750 W, SPX, NPS1`; kinds one after the other.
fn gpus(gpus: &[system::Gpu]) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for gpu in gpus {
        let mut words = Vec::new();
        words.extend(gpu.product.get().cloned().or_else(|| rules::product_of(gpu.device_id.get()?)));
        words.extend(gpu.target.get().cloned());
        words.extend(gpu.compute_units.get().map(|count| format!("{count} CUs")));
        words.extend(gpu.power_cap_max_w.get().map(|watts| format!("{watts} W")));
        words.extend(gpu.compute_partition.get().cloned());
        words.extend(gpu.memory_partition.get().cloned());
        if gpu.partitions > 1 {
            words.push(format!("{} partitions", gpu.partitions));
        }
        // A GPU that neither tool nor driver names is on the PCI bus only.
        if words.is_empty()
            || gpu.product.get().is_none() && gpu.target.get().is_none() && gpu.device_id.get().is_none()
        {
            words.insert(0, "GPU of AMD".to_owned());
        }
        *kinds.entry(words.join(", ")).or_default() += 1;
    }
    if kinds.is_empty() {
        return "none".to_owned();
    }
    kinds.into_iter().map(|(kind, count)| format!("{count} x {kind}")).collect::<Vec<_>>().join("; ")
}

/// Facts and check verdicts that some machines of a fleet have and most have not.
pub fn compare(machines: &[Examined]) -> Vec<OddOne> {
    let mut values: BTreeMap<String, Vec<(usize, String)>> = BTreeMap::new();
    for (at, machine) in machines.iter().enumerate() {
        for fact in &machine.facts {
            let value = if fact.known { fact.value.clone() } else { "unknown".to_owned() };
            values.entry(fact.name.to_owned()).or_default().push((at, value));
        }
        let mut checks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for check in &machine.checks {
            let value = if check.verdict == HostVerdict::Unknown {
                "unknown".to_owned()
            } else {
                format!("{}: {}", check.verdict.as_str(), check.message)
            };
            checks.entry(check.check).or_default().push(value);
        }
        for (check, texts) in checks {
            values.entry(check.to_owned()).or_default().push((at, texts.join("; ")));
        }
    }
    let mut odd = Vec::new();
    for (fact, mut values) in values {
        // A fact that only some machines have (`container`) is absent on the others.
        for at in 0..machines.len() {
            if !values.iter().any(|(it, _)| *it == at) {
                values.push((at, "absent".to_owned()));
            }
        }
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        values.iter().for_each(|(_, value)| *counts.entry(value).or_default() += 1);
        if counts.len() < 2 {
            continue;
        }
        let Some((usual, count)) = counts.iter().max_by_key(|(_, count)| **count) else { continue };
        let (usual, count) = if *count * 2 > machines.len() {
            ((*usual).to_owned(), *count)
        } else {
            ("no value has a majority".to_owned(), 0)
        };
        values.in_order_by_key(|(at, _)| *at);
        for (at, value) in values.iter().filter(|(_, value)| *value != usual) {
            odd.push(OddOne {
                machine: machines[*at].name.clone(),
                fact: fact.clone(),
                value: value.clone(),
                usual: usual.clone(),
                usual_count: count,
            });
        }
    }
    let place = |name: &str| machines.iter().position(|it| it.name == name);
    odd.in_order_by_key(|it| place(&it.machine));
    odd
}

#[cfg(test)]
mod tests {
    use super::*;
    use system::Tree;

    #[test]
    fn the_odd_one_is_named() {
        let machines: Vec<Examined> = [("a", "0"), ("b", "0"), ("c", "1")]
            .into_iter()
            .map(|(name, value)| {
                let mut tree = Tree::new(name);
                tree.insert("proc/sys/kernel/numa_balancing", value.as_bytes().to_vec());
                examine(&Machine::read(&tree, &[]), None, None)
            })
            .collect();
        let odd = compare(&machines);
        assert_eq!(odd.len(), 1, "{odd:?}");
        assert_eq!(
            (odd[0].machine.as_str(), odd[0].fact.as_str(), odd[0].usual_count),
            ("c", "numa-balancing", 2)
        );
        assert_eq!(compare(&machines[..1]), []);
    }
}
