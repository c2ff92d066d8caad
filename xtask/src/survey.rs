//! Firing rate of each rule on the kernels of a real file, its run time, and a sample of findings to judge.
//!
//! A rule that fires everywhere, or for a reason an expert would not act on, shows here and nowhere else. The
//! sample depends on the number given and is the same in every run.

use analysis::{KernelEvidence, Source};
use anyhow::{Context, Result, bail};
use codeobj::{LineTable, Target, Wanted};
use rules::Outcome;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use view::{Finding, Severity};

#[derive(Default)]
struct Options {
    file: Option<String>,
    target: Option<String>,
    /// Only rules whose id starts so.
    rule: String,
    sample: usize,
    seed: u64,
    kernels: usize,
}

#[derive(Default)]
struct Fired {
    kernels: usize,
    findings: [usize; 3],
    time: Duration,
}

/// Findings of the rules on the kernels so far.
struct Survey {
    rules: Vec<&'static rules::Rule>,
    fired: BTreeMap<&'static str, Fired>,
    kernels: usize,
    insts: u64,
    gathering: Duration,
    addressing: Duration,
    /// Findings kept to be read, with the number that chose them and the name of the kernel.
    sample: Vec<(u64, String, Finding)>,
    /// Most findings of the sample.
    most: usize,
    random: u64,
}

impl Survey {
    fn new(options: &Options) -> Self {
        let rules: Vec<&rules::Rule> = rules::all()
            .iter()
            .filter(|rule| rule.code_check().is_some() && rule.id.starts_with(&options.rule))
            .collect();
        Survey {
            fired: rules.iter().map(|rule| (rule.id, Fired::default())).collect(),
            rules,
            kernels: 0,
            insts: 0,
            gathering: Duration::ZERO,
            addressing: Duration::ZERO,
            sample: Vec::new(),
            most: options.sample,
            random: options.seed,
        }
    }

    /// Runs the rules on a kernel whose evidence took `gathering`.
    fn judge(&mut self, name: &str, evidence: &KernelEvidence<'_>, gathering: Duration) {
        self.gathering += gathering;
        self.kernels += 1;
        self.insts += evidence.insts.len() as u64;
        let start = Instant::now();
        evidence.addresses();
        self.addressing += start.elapsed();
        for rule in self.rules.clone() {
            let Some(check) = rule.code_check() else { continue };
            let start = Instant::now();
            let outcome = check(evidence);
            let entry = self.fired.entry(rule.id).or_default();
            entry.time += start.elapsed();
            let Outcome::Findings(findings) = outcome else { continue };
            entry.kernels += 1;
            for finding in &findings {
                entry.findings[finding.severity as usize] += 1;
            }
            findings.into_iter().for_each(|finding| self.choose(name, finding));
        }
    }

    /// The findings with the smallest numbers are a fair sample of all.
    fn choose(&mut self, name: &str, finding: Finding) {
        self.random =
            self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let number = self.random >> 16;
        let at = self.sample.partition_point(|(other, ..)| *other < number);
        if at < self.most {
            self.sample.insert(at, (number, name.to_owned(), finding));
            self.sample.truncate(self.most);
        }
    }

    fn print(mut self) {
        let insts = self.insts.max(1) as f64;
        let per_inst = |time: Duration| time.as_secs_f64() * 1e9 / insts;
        println!("{} kernels, {} instructions", self.kernels, self.insts);
        println!(
            "evidence {:.0} ns per instruction, addresses {:.0}",
            per_inst(self.gathering),
            per_inst(self.addressing)
        );
        println!(
            "{:<8} {:>8} {:>7} {:>8} {:>8} {:>8} {:>9}",
            "rule", "kernels", "share", "info", "warning", "severe", "ns/inst"
        );
        for (id, one) in &self.fired {
            let [info, warning, severe] = one.findings;
            let share = 100.0 * one.kernels as f64 / self.kernels.max(1) as f64;
            println!(
                "{id:<8} {:>8} {share:>6.1}% {info:>8} {warning:>8} {severe:>8} {:>9.1}",
                one.kernels,
                per_inst(one.time)
            );
        }
        let total = self.fired.values().map(|one| one.time).sum();
        println!("rules together {:.0} ns per instruction", per_inst(total));
        self.sample.sort_by(|a, b| (a.2.rule, &a.1).cmp(&(b.2.rule, &b.1)));
        for (_, name, finding) in self.sample {
            print_finding(&name, &finding);
        }
    }
}

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let options = options(arguments)?;
    let file = options
        .file
        .as_ref()
        .context("no file; usage: survey FILE [--arch T] [--rule R] [--sample N] [--seed N] [--kernels N]")?;
    let data = std::fs::read(file).with_context(|| file.clone())?;
    let wanted = match &options.target {
        Some(name) => Wanted::targets(vec![Target { processor: name.clone(), ..Target::default() }]),
        None => Wanted::all(),
    };
    let mut survey = Survey::new(&options);
    'objects: for found in codeobj::scan(&data, &wanted)? {
        let Ok(found) = found else { continue };
        let Ok(object) = found.read() else { continue };
        let lines = LineTable::read(&found.data).ok();
        for kernel in &object.kernels {
            if survey.kernels >= options.kernels {
                break 'objects;
            }
            let start = Instant::now();
            let source = Source::Binary { data: &found.data, lines: lines.as_ref() };
            let evidence = KernelEvidence::gather(&object, kernel, source);
            let gathering = start.elapsed();
            survey.judge(&format!("{} {}", found.origin, kernel.name), &evidence, gathering);
        }
    }
    survey.print();
    Ok(())
}

fn print_finding(name: &str, finding: &Finding) {
    let severity = match finding.severity {
        Severity::Info => "info",
        Severity::Warning => "warning",
        Severity::Severe => "severe",
    };
    println!("\n{} {severity} {name}\n  {}", finding.rule, finding.message);
    if let Some(cost) = &finding.cost {
        println!("  cost: {cost}");
    }
    for evidence in &finding.evidence {
        println!("  {}: {}", evidence.what, evidence.value);
    }
    for place in &finding.places {
        println!(
            "  {:#x} loop {:?} {}",
            place.address.unwrap_or_default(),
            place.in_loop,
            place.instruction.as_deref().unwrap_or_default()
        );
    }
}

fn options(arguments: &[String]) -> Result<Options> {
    let mut options = Options { kernels: usize::MAX, seed: 1, ..Options::default() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut value = || rest.next().with_context(|| format!("`{argument}` needs a value"));
        match argument.as_str() {
            "--arch" => options.target = Some(value()?.clone()),
            "--rule" => options.rule = value()?.to_uppercase(),
            "--sample" => options.sample = value()?.parse()?,
            "--seed" => options.seed = value()?.parse()?,
            "--kernels" => options.kernels = value()?.parse()?,
            other if other.starts_with("--") => bail!("no option `{other}`"),
            _ => options.file = Some(argument.clone()),
        }
    }
    Ok(options)
}
