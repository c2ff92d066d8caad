//! Stops of GPU waves that a debugger prints.
//!
//! rocgdb prints the signal, the lane it switches to, the frame, and on request the instructions. A signal of
//! the host has the same first line and no lane.

use super::{address, count};

/// Lines behind the signal that belong to the stop.
const BLOCK: usize = 40;

/// A wave that a signal stopped.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WaveStop {
    /// Line of the signal, 1-based.
    pub line: u32,
    /// Last line of the stop.
    pub last_line: u32,
    /// Signal: `SIGSEGV`.
    pub signal: String,
    /// Words of the debugger: `Segmentation fault`.
    pub words: String,
    /// Agent, queue, dispatch and wave, as written: `1:2:1:1`.
    pub wave: String,
    /// Lane, where the debugger names one.
    pub lane: Option<u32>,
    /// Workgroup: `0,0,0`.
    pub workgroup: Option<String>,
    /// Work-item in its workgroup: `0,0,0`.
    pub work_item: Option<String>,
    /// Program counter.
    pub pc: Option<u64>,
    /// Kernel or function.
    pub function: Option<String>,
    /// File and line of the source.
    pub source: Option<String>,
    /// Text of the source line.
    pub source_text: Option<String>,
    /// URI of the code object, where the debugger has no source.
    pub code_object: Option<String>,
    /// The instruction after the arrow.
    pub instruction: Option<String>,
}

/// All stops of waves of a text.
pub(super) fn read(lines: &[&str]) -> Vec<WaveStop> {
    let mut stops = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some((signal, words)) = signal(line) else { continue };
        let rest = lines[at + 1..].iter().take(BLOCK).take_while(|it| self::signal(it).is_none());
        let mut stop = WaveStop { line: count(at + 1), signal, words, ..WaveStop::default() };
        stop.last_line = stop.line;
        for (further, line) in rest.enumerate() {
            if read_line(&mut stop, line.trim()) {
                stop.last_line = count(at + 2 + further);
            }
        }
        if !stop.wave.is_empty() {
            stops.push(stop);
        }
    }
    stops
}

/// `Thread 3 "app" received signal SIGSEGV, Segmentation fault.`
fn signal(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.split_once("\" received signal ")?;
    let (name, words) =
        rest.trim_end().trim_end_matches('.').split_once(',').unwrap_or((rest.trim_end(), ""));
    name.starts_with("SIG").then(|| (name.to_owned(), words.trim().to_owned()))
}

/// Takes what a line says; true if it says anything.
fn read_line(stop: &mut WaveStop, line: &str) -> bool {
    let is_current = line.starts_with("[Switching to thread") || line.starts_with('*');
    if is_current && stop.wave.is_empty() {
        if let Some((_, rest)) = line.split_once("AMDGPU Lane ") {
            lane(stop, rest);
        } else if let Some((_, rest)) = line.split_once("AMDGPU Wave ") {
            wave(stop, rest);
        }
        if let (true, Some(at)) = (line.starts_with('*'), line.find(" 0x")) {
            frame(stop, &line[at + 1..]);
        }
        return !stop.wave.is_empty();
    }
    if stop.wave.is_empty() {
        return false;
    }
    if let Some(rest) = line.strip_prefix("=> ") {
        if stop.instruction.is_none() {
            stop.instruction = rest.split_once(':').map(|(_, text)| text.trim().to_owned());
        }
        return true;
    }
    let frame_text = line.strip_prefix("#0").map_or(line, str::trim_start);
    if stop.function.is_none() && frame_text.starts_with("0x") && frame_text.contains(" in ") {
        frame(stop, frame_text);
        return true;
    }
    // The debugger prints the source line behind its number.
    let number = stop.source.as_ref().and_then(|it| it.rsplit_once(':')).map(|(_, number)| number);
    if let (Some(number), None) = (number, &stop.source_text)
        && let Some(text) = line.strip_prefix(number).filter(|it| it.starts_with([' ', '\t']))
    {
        stop.source_text = Some(text.trim().to_owned());
        return true;
    }
    false
}

/// `1:2:1:1/0 (0,0,0)[0,0,0])]`.
fn lane(stop: &mut WaveStop, text: &str) {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (wave, lane) = name.split_once('/').unwrap_or((name, ""));
    wave.clone_into(&mut stop.wave);
    stop.lane = lane.parse().ok();
    stop.workgroup = between(rest, '(', ')');
    stop.work_item = between(rest, '[', ']');
}

/// `1:2:1:1 (0,0,0)/0 "app" ...`.
fn wave(stop: &mut WaveStop, text: &str) {
    let (name, rest) = text.split_once(' ').unwrap_or((text, ""));
    name.trim_end_matches([')', ']']).clone_into(&mut stop.wave);
    stop.workgroup = between(rest, '(', ')');
}

fn between(text: &str, open: char, close: char) -> Option<String> {
    let (_, rest) = text.split_once(open)?;
    let (inner, _) = rest.split_once(close)?;
    (!inner.is_empty() && inner.len() < 40).then(|| inner.to_owned())
}

/// `0x7f.. in NAME (ARGUMENTS) at FILE:LINE`, or `... from URI`.
fn frame(stop: &mut WaveStop, text: &str) {
    stop.pc = address(text);
    let Some((_, rest)) = text.split_once(" in ") else { return };
    let (rest, place) = match rest.rsplit_once(" at ") {
        Some((rest, place)) => (rest, Some(place)),
        None => (rest, None),
    };
    let (rest, uri) = match rest.rsplit_once(" from ") {
        Some((rest, uri)) => (rest, Some(uri)),
        None => (rest, None),
    };
    let name = rest.split_once(" (").map_or_else(|| rest.split('(').next().unwrap_or(rest), |(name, _)| name);
    stop.function = Some(name.trim().to_owned()).filter(|it| !it.is_empty() && it != "??");
    stop.source = place.map(|it| it.trim().to_owned());
    stop.code_object = uri.map(|it| it.trim().to_owned());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_that_a_signal_stopped() {
        let text = "Thread 5 \"app\" received signal SIGSEGV, Segmentation fault.\n\
            [Switching to thread 5, lane 3 (AMDGPU Lane 1:2:7:4/3 (9,0,0)[3,0,0])]\n\
            0x00007ffff7ec1094 in void scale<float>(float*, int) (x=0x0, n=4) at scale.hip:12\n\
            12\t    x[i] *= 2;\n\
            => 0x00007ffff7ec1094 <+148>:\tglobal_store_dword v[0:1], v2, off\n";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines);
        assert_eq!(found.len(), 1);
        let it = &found[0];
        assert_eq!((it.line, it.last_line, it.signal.as_str(), it.lane), (1, 5, "SIGSEGV", Some(3)));
        assert_eq!((it.wave.as_str(), it.pc), ("1:2:7:4", Some(0x7fff_f7ec_1094)));
        assert_eq!((it.workgroup.as_deref(), it.work_item.as_deref()), (Some("9,0,0"), Some("3,0,0")));
        assert_eq!(it.function.as_deref(), Some("void scale<float>(float*, int)"));
        assert_eq!(
            (it.source.as_deref(), it.source_text.as_deref()),
            (Some("scale.hip:12"), Some("x[i] *= 2;"))
        );
        assert_eq!(it.instruction.as_deref(), Some("global_store_dword v[0:1], v2, off"));
    }

    #[test]
    fn other_forms_and_signals_of_the_host() {
        let text = "Thread 9 \"app\" received signal SIGFPE, Arithmetic exception.\n\
            * 9    AMDGPU Wave 1:64:1:1 (2,0,0)/0 \"app\"  0x00007ffdfc575694 in div () from memory://9#offset=0x7f&size=41\n";
        let lines: Vec<&str> = text.lines().collect();
        let found = read(&lines);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].function.as_deref(), found[0].workgroup.as_deref()),
            (Some("div"), Some("2,0,0"))
        );
        assert_eq!(found[0].code_object.as_deref(), Some("memory://9#offset=0x7f&size=41"));
        let host =
            ["Thread 1 \"app\" received signal SIGSEGV, Segmentation fault.", "0x12 in main () at a.c:3"];
        assert!(read(&host).is_empty());
    }
}
