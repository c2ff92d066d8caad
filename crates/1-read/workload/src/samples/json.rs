//! Samples in `*results.json` of rocprofv3 and rocprof-compute.
//!
//! Such a file may hold millions of samples, so each is counted as it is read and then dropped; only names,
//! dispatches and one count per dispatch and instruction are kept.

use super::dispatches::{Listed, Run};
use super::{Collect, SampleCounts, SampledInstruction, SampledKernel, SamplingMethod, stall_reason};
use crate::agent;
use crate::folder::Files;
use crate::problem::Problems;
use crate::side::first_line;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, de};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::marker::PhantomData;

/// Reads one file; a damaged one is a problem and is left out.
pub(super) fn file(
    files: &Files<'_>,
    name: &str,
    collect: &mut Collect,
    run: &mut Run,
    problems: &mut Problems,
) {
    let bytes = match files.bytes(name) {
        Ok(bytes) => bytes,
        Err(error) => {
            problems.error(name, first_line(&error.to_string()), "its samples, if it has some, are left out");
            return;
        }
    };
    // Other tools write `results.json` too.
    if memchr::memmem::find(&bytes, b"\"pc_sample_").is_none() {
        return;
    }
    let mut processes: Vec<Process> = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(&bytes);
    let read = Root(&mut processes).deserialize(&mut reader).and_then(|()| reader.end());
    if let Err(error) = read {
        problems.error(
            name,
            format!("the JSON is damaged: {error}"),
            "the samples of this file are left out",
        );
        return;
    }
    let mut any = false;
    for process in processes {
        any |= finish(name, process, collect, run, problems);
    }
    if any {
        collect.samples.sources.push(name.to_string());
    }
}

/// Key of a sample: dispatch, code object, offset in it, number of the instruction's text.
type Place = (u64, u64, u64, u64);

/// Data of one process.
#[derive(Default)]
struct Process {
    samples: HashMap<Place, SampleCounts>,
    methods: [u64; 2],
    /// Samples without a position.
    unplaced: u64,
    instructions: Vec<String>,
    comments: Vec<String>,
    symbols: HashMap<u64, Symbol>,
    dispatches: Vec<Dispatch>,
    /// Load base less load delta of each code object: what makes an offset an address of its ELF file.
    deltas: HashMap<u64, u64>,
    agents: Vec<BTreeMap<String, String>>,
    /// Number that the system gave it.
    pid: Option<u64>,
}

struct Symbol {
    name: String,
    symbol: String,
    registers: [Option<f64>; 3],
}

struct Dispatch {
    id: u64,
    kernel: u64,
    agent: u64,
    start: Option<i64>,
    end: Option<i64>,
    /// Work items, work items per workgroup, LDS bytes, scratch bytes.
    sizes: [Option<f64>; 4],
}

/// Gives a process to the samples of the recording; whether it has any.
fn finish(
    file: &str,
    process: Process,
    collect: &mut Collect,
    run: &mut Run,
    problems: &mut Problems,
) -> bool {
    if process.unplaced > 0 {
        problems.warn(file, process.unplaced, "samples without a program counter", "they are left out");
    }
    if process.samples.is_empty() {
        return false;
    }
    for (method, samples) in
        [SamplingMethod::HostTrap, SamplingMethod::Stochastic].into_iter().zip(process.methods)
    {
        if samples > 0 {
            collect.method(method);
        }
    }
    let gpus: Vec<&BTreeMap<String, String>> =
        process.agents.iter().filter(|agent| agent.get("type").is_some_and(|kind| kind == "2")).collect();
    if let Some(gpu) = gpus.first() {
        for (from, to) in agent::facts() {
            if let Some(value) = gpu.get(from).filter(|value| !value.is_empty()) {
                run.machine.facts.entry(to.to_string()).or_insert_with(|| value.clone());
            }
        }
    }
    let of: HashMap<u64, u64> =
        process.dispatches.iter().map(|dispatch| (dispatch.id, dispatch.kernel)).collect();
    collect.process = process.pid.unwrap_or_else(|| super::process_of(file));
    let (mut unnamed, mut without_text) = (0, 0);
    let mut samples: Vec<(Place, SampleCounts)> = process.samples.into_iter().collect();
    samples.sort_unstable_by_key(|(place, _)| *place);
    for ((dispatch, code, offset, text), counts) in samples {
        let symbol = of.get(&dispatch).and_then(|kernel| process.symbols.get(kernel));
        if symbol.is_none() {
            unnamed += counts.samples;
        }
        let kernel = collect.kernel(match symbol {
            Some(it) => SampledKernel { name: it.name.clone(), symbol: it.symbol.clone() },
            None => SampledKernel { name: super::NO_KERNEL.to_string(), symbol: String::new() },
        });
        let text_of = |list: &[String]| usize::try_from(text).ok().and_then(|at| list.get(at)).cloned();
        let instruction = text_of(&process.instructions);
        if instruction.is_none() {
            without_text += counts.samples;
        }
        let delta = process.deltas.get(&code).copied().unwrap_or(0);
        let instruction = collect.instruction(SampledInstruction {
            address: Some(offset.wrapping_add(delta)),
            text: instruction.unwrap_or_default(),
            source: text_of(&process.comments).unwrap_or_default(),
        });
        collect.add(dispatch, kernel, instruction, &counts);
    }
    if unnamed > 0 {
        let consequence = "they are shown together; record with `--kernel-trace` too";
        problems.warn(file, unnamed, "the kernel of samples is not recorded", consequence);
    }
    if without_text > 0 {
        problems.warn(file, without_text, "the instruction of samples has no text", "its address is shown");
    }
    for dispatch in &process.dispatches {
        let symbol = process.symbols.get(&dispatch.kernel);
        let [grid, workgroup, lds, scratch] = dispatch.sizes;
        let [vgprs, agprs, sgprs] = symbol.map_or([None; 3], |it| it.registers);
        run.dispatches.push(Listed {
            id: dispatch.id,
            kernel: symbol.map_or_else(String::new, |it| it.name.clone()),
            gpu: u32::try_from(dispatch.agent).unwrap_or(u32::MAX),
            start: dispatch.start,
            end: dispatch.end,
            sizes: [grid, workgroup, lds, scratch, vgprs, agprs, sgprs],
        });
    }
    true
}

/// A value of any type: files of other versions must not fail on a field that has changed.
#[derive(Default)]
enum Scalar<'a> {
    #[default]
    Other,
    Number(u64),
    Text(Cow<'a, str>),
}

impl Scalar<'_> {
    const fn number(&self) -> Option<u64> {
        match self {
            Scalar::Number(number) => Some(*number),
            _ => None,
        }
    }

    fn time(&self) -> Option<i64> {
        self.number().and_then(|number| i64::try_from(number).ok())
    }

    fn text(&self) -> &str {
        match self {
            Scalar::Text(text) => text,
            _ => "",
        }
    }

    fn owned(&self) -> String {
        match self {
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text.to_string(),
            Scalar::Other => String::new(),
        }
    }

    /// A reason by name or by number.
    fn reason(&self) -> usize {
        match self {
            Scalar::Number(number) => {
                usize::try_from(*number).ok().filter(|at| *at < super::SAMPLE_STALLS.len()).unwrap_or(0)
            }
            _ => stall_reason(self.text()),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Scalar<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Scalar<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_bool<E: de::Error>(self, value: bool) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Number(u64::from(value)))
            }
            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Number(value))
            }
            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Scalar<'de>, E> {
                Ok(u64::try_from(value).map_or(Scalar::Other, Scalar::Number))
            }
            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Scalar<'de>, E> {
                let whole = value >= 0.0 && value.fract() == 0.0 && value < 9e15;
                Ok(if whole { Scalar::Number(value as u64) } else { Scalar::Other })
            }
            fn visit_unit<E: de::Error>(self) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Other)
            }
            fn visit_borrowed_str<E: de::Error>(self, value: &'de str) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Text(Cow::Borrowed(value)))
            }
            fn visit_str<E: de::Error>(self, value: &str) -> Result<Scalar<'de>, E> {
                Ok(Scalar::Text(Cow::Owned(value.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Scalar<'de>, A::Error> {
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Scalar::Other)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Scalar<'de>, A::Error> {
                // Handles are objects of one number.
                let mut handle = Scalar::Other;
                while let Some(key) = map.next_key::<Cow<'de, str>>()? {
                    if key == "handle" {
                        handle = map.next_value()?;
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(handle)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[derive(Deserialize, Default)]
struct RawSample<'a> {
    #[serde(borrow, default)]
    inst_index: Scalar<'a>,
    #[serde(borrow, default)]
    record: RawRecord<'a>,
}

#[derive(Deserialize, Default)]
struct RawRecord<'a> {
    #[serde(borrow, default)]
    pc: RawCounter<'a>,
    #[serde(borrow, default)]
    dispatch_id: Scalar<'a>,
    #[serde(borrow, default)]
    wave_issued: Scalar<'a>,
    #[serde(borrow, default)]
    snapshot: RawSnapshot<'a>,
}

#[derive(Deserialize, Default)]
struct RawCounter<'a> {
    #[serde(borrow, default)]
    code_object_id: Scalar<'a>,
    #[serde(borrow, default)]
    code_object_offset: Scalar<'a>,
}

#[derive(Deserialize, Default)]
struct RawSnapshot<'a> {
    #[serde(borrow, default)]
    stall_reason: Scalar<'a>,
}

#[derive(Deserialize, Default)]
struct RawSymbol<'a> {
    #[serde(borrow, default)]
    kernel_id: Scalar<'a>,
    #[serde(borrow, default)]
    kernel_name: Scalar<'a>,
    #[serde(borrow, default)]
    formatted_kernel_name: Scalar<'a>,
    #[serde(borrow, default)]
    arch_vgpr_count: Scalar<'a>,
    #[serde(borrow, default)]
    accum_vgpr_count: Scalar<'a>,
    #[serde(borrow, default)]
    sgpr_count: Scalar<'a>,
}

#[derive(Deserialize, Default)]
struct RawDispatch<'a> {
    #[serde(borrow, default)]
    start_timestamp: Scalar<'a>,
    #[serde(borrow, default)]
    end_timestamp: Scalar<'a>,
    #[serde(borrow, default)]
    dispatch_info: RawInfo<'a>,
}

#[derive(Deserialize, Default)]
struct RawMetadata<'a> {
    #[serde(borrow, default)]
    pid: Scalar<'a>,
}

#[derive(Deserialize, Default)]
struct RawInfo<'a> {
    #[serde(borrow, default)]
    dispatch_id: Scalar<'a>,
    #[serde(borrow, default)]
    kernel_id: Scalar<'a>,
    #[serde(borrow, default)]
    agent_id: Scalar<'a>,
    #[serde(borrow, default)]
    private_segment_size: Scalar<'a>,
    #[serde(borrow, default)]
    group_segment_size: Scalar<'a>,
    #[serde(borrow, default)]
    workgroup_size: RawSize<'a>,
    #[serde(borrow, default)]
    grid_size: RawSize<'a>,
}

#[derive(Deserialize, Default)]
struct RawSize<'a> {
    #[serde(borrow, default)]
    x: Scalar<'a>,
    #[serde(borrow, default)]
    y: Scalar<'a>,
    #[serde(borrow, default)]
    z: Scalar<'a>,
}

impl RawSize<'_> {
    fn product(&self) -> Option<f64> {
        let sides = [&self.x, &self.y, &self.z];
        sides.iter().try_fold(1.0, |product, side| side.number().map(|side| product * side as f64))
    }
}

#[derive(Deserialize, Default)]
struct RawCode<'a> {
    #[serde(borrow, default)]
    code_object_id: Scalar<'a>,
    #[serde(borrow, default)]
    load_base: Scalar<'a>,
    #[serde(borrow, default)]
    load_delta: Scalar<'a>,
}

impl Process {
    fn sample(&mut self, method: SamplingMethod, raw: &RawSample<'_>) {
        let record = &raw.record;
        let (Some(code), Some(offset)) =
            (record.pc.code_object_id.number(), record.pc.code_object_offset.number())
        else {
            self.unplaced += 1;
            return;
        };
        let dispatch = record.dispatch_id.number().unwrap_or(u64::MAX);
        let text = raw.inst_index.number().unwrap_or(u64::MAX);
        let issued = (method == SamplingMethod::Stochastic)
            .then(|| record.wave_issued.number())
            .flatten()
            .map(|issued| issued != 0);
        let counts = self.samples.entry((dispatch, code, offset, text)).or_default();
        counts.one(issued, record.snapshot.stall_reason.reason());
        self.methods[method as usize] += 1;
    }

    fn symbol(&mut self, raw: &RawSymbol<'_>) {
        let Some(id) = raw.kernel_id.number() else { return };
        let symbol = raw.kernel_name.text();
        let symbol = symbol.strip_suffix(".kd").unwrap_or(symbol).to_string();
        let formatted = raw.formatted_kernel_name.text();
        let name = if formatted.is_empty() { symbol.clone() } else { formatted.to_string() };
        let registers = [&raw.arch_vgpr_count, &raw.accum_vgpr_count, &raw.sgpr_count];
        let registers = registers.map(|count| count.number().map(|count| count as f64));
        if !name.is_empty() {
            self.symbols.insert(id, Symbol { name, symbol, registers });
        }
    }

    fn dispatch(&mut self, raw: &RawDispatch<'_>) {
        let info = &raw.dispatch_info;
        let (Some(id), Some(kernel)) = (info.dispatch_id.number(), info.kernel_id.number()) else { return };
        let bytes = |size: &Scalar<'_>| size.number().map(|size| size as f64);
        self.dispatches.push(Dispatch {
            id,
            kernel,
            agent: info.agent_id.number().unwrap_or(0),
            start: raw.start_timestamp.time(),
            end: raw.end_timestamp.time(),
            sizes: [
                info.grid_size.product(),
                info.workgroup_size.product(),
                bytes(&info.group_segment_size),
                bytes(&info.private_segment_size),
            ],
        });
    }

    fn code(&mut self, raw: &RawCode<'_>) {
        let (Some(id), Some(base)) = (raw.code_object_id.number(), raw.load_base.number()) else { return };
        let delta = raw.load_delta.number().unwrap_or(base);
        self.deltas.insert(id, base.wrapping_sub(delta));
    }

    fn agent(&mut self, raw: BTreeMap<Cow<'_, str>, Scalar<'_>>) {
        self.agents.push(raw.into_iter().map(|(name, value)| (name.into_owned(), value.owned())).collect());
    }
}

/// The document: `{"rocprofiler-sdk-tool": [process, …]}`.
struct Root<'a>(&'a mut Vec<Process>);
/// The list of processes.
struct Processes<'a>(&'a mut Vec<Process>);
/// An object of a process whose parts are read one by one.
struct Part<'a>(&'a mut Process, Level);
/// The elements of a list, each given to a function and forgotten.
struct Each<'a, T, F>(&'a mut Process, F, PhantomData<T>);

/// Kind of object inside a process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Process,
    Records,
    Strings,
}

fn each<T, F: FnMut(&mut Process, T)>(process: &mut Process, take: F) -> Each<'_, T, F> {
    Each(process, take, PhantomData)
}

impl<'de> DeserializeSeed<'de> for Root<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Root<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the object of a profiler's output")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            if key == "rocprofiler-sdk-tool" {
                map.next_value_seed(Processes(self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Processes<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Processes<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of processes")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let mut process = Process::default();
            if seq.next_element_seed(Part(&mut process, Level::Process))?.is_none() {
                return Ok(());
            }
            self.0.push(process);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Part(process, level) = self;
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            match (level, &*key) {
                (Level::Process, "buffer_records" | "callback_records") => {
                    map.next_value_seed(Part(process, Level::Records))?;
                }
                (Level::Process, "metadata") => {
                    process.pid = map.next_value::<RawMetadata<'de>>()?.pid.number()
                }
                (Level::Process, "strings") => map.next_value_seed(Part(process, Level::Strings))?,
                (Level::Process, "kernel_symbols") => {
                    map.next_value_seed(each(process, |it, raw: RawSymbol<'de>| it.symbol(&raw)))?;
                }
                (Level::Process, "code_objects") => {
                    map.next_value_seed(each(process, |it, raw: RawCode<'de>| it.code(&raw)))?;
                }
                (Level::Process, "agents") => map.next_value_seed(each(process, Process::agent))?,
                (Level::Records, "kernel_dispatch") => {
                    map.next_value_seed(each(process, |it, raw: RawDispatch<'de>| it.dispatch(&raw)))?;
                }
                (Level::Records, "pc_sample_stochastic") => {
                    let take =
                        |it: &mut Process, raw: RawSample<'de>| it.sample(SamplingMethod::Stochastic, &raw);
                    map.next_value_seed(each(process, take))?;
                }
                (Level::Records, "pc_sample_host_trap") => {
                    let take =
                        |it: &mut Process, raw: RawSample<'de>| it.sample(SamplingMethod::HostTrap, &raw);
                    map.next_value_seed(each(process, take))?;
                }
                (Level::Strings, "pc_sample_instructions") => {
                    let take = |it: &mut Process, text: Scalar<'de>| it.instructions.push(text.owned());
                    map.next_value_seed(each(process, take))?;
                }
                (Level::Strings, "pc_sample_comments") => {
                    let take = |it: &mut Process, text: Scalar<'de>| it.comments.push(text.owned());
                    map.next_value_seed(each(process, take))?;
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(&mut Process, T)> DeserializeSeed<'de> for Each<'_, T, F> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, T: Deserialize<'de>, F: FnMut(&mut Process, T)> Visitor<'de> for Each<'_, T, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element::<T>()? {
            (self.1)(self.0, element);
        }
        Ok(())
    }
}
