//! Winners in the forms that a program's author uses: the list of `triton.Config`, and a patch of the source.

use super::space::UNSET;
use super::study::LiveStudy;
use sorting::Sort;
use std::path::{Path, PathBuf};
use tune::{Id, Space, Value};

/// Options of `triton.Config` beside the kernel's own parameters.
const OPTIONS: [&str; 5] = ["num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override"];

/// A configuration as Python writes it: `triton.Config({"BLOCK": 64}, num_warps=4, num_stages=2)`.
pub fn config_text(space: &Space, id: Id, prefix: &str) -> String {
    let (mut kwargs, mut options) = (Vec::new(), String::new());
    for (parameter, value) in space.parameters().iter().zip(space.values(id)) {
        let text = match value {
            Value::Text(it) if it == UNSET => continue,
            Value::Text(it) if parameter.name == "pre_hook" && it.contains('<') => continue,
            Value::Text(it) if parameter.name == "pre_hook" => it.clone(),
            Value::Text(it) => format!("{it:?}"),
            other => other.to_string(),
        };
        if OPTIONS.contains(&parameter.name.as_str()) || parameter.name == "pre_hook" {
            options += &format!(", {}={text}", parameter.name);
        } else {
            kwargs.push(format!("\"{}\": {text}", parameter.name));
        }
    }
    format!("{prefix}Config({{{}}}{options})", kwargs.join(", "))
}

impl LiveStudy {
    /// A configuration as Python writes it.
    pub fn config(&self, id: Id, prefix: &str) -> String {
        config_text(&self.space, id, prefix)
    }

    /// The winner has a function without a name as `pre_hook`, which no text can stand for.
    fn has_nameless_hook(&self) -> bool {
        let nameless = |id: Id| {
            let mut pairs = self.space.parameters().iter().zip(self.space.values(id));
            pairs.any(|(it, value)| it.name == "pre_hook" && value.to_string().contains('<'))
        };
        self.proof.winner.is_some_and(nameless)
    }

    /// The winner as a `triton.Config`.
    pub fn winner_config(&self) -> Option<String> {
        self.proof.winner.map(|it| self.config(it, "triton."))
    }
}

/// A patch of one source file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    /// The file.
    pub file: PathBuf,
    /// Unified difference.
    pub text: String,
}

/// Patches that put the winners of all keys in place of the kernels' lists, for the sources that `read` gives.
pub fn patches(studies: &[LiveStudy], read: &dyn Fn(&Path) -> Option<String>) -> Vec<Patch> {
    let mut kernels: Vec<(&Path, u32, Vec<&LiveStudy>)> = Vec::new();
    for study in studies.iter().filter(|it| it.proof.winner.is_some()) {
        match kernels.iter_mut().find(|it| it.0 == study.file && it.1 == study.line) {
            Some(kernel) => kernel.2.push(study),
            None => kernels.push((&study.file, study.line, vec![study])),
        }
    }
    kernels.in_order_by_key(|it| (it.0, it.1));
    let mut patches: Vec<Patch> = Vec::new();
    let mut moved = 0;
    for (file, line, studies) in kernels {
        let Some(source) = read(file) else { continue };
        let Some(hunk) = Hunk::of(&source, line, &studies) else { continue };
        let name = file.display().to_string();
        let name = name.trim_start_matches('/');
        match patches.iter_mut().find(|it| it.file == file) {
            Some(patch) => patch.text += &hunk.text(moved),
            None => {
                moved = 0;
                let text = format!("--- a/{name}\n+++ b/{name}\n{}", hunk.text(0));
                patches.push(Patch { file: file.to_owned(), text });
            }
        }
        moved += hunk.new.len() as i64 - hunk.old.len() as i64;
    }
    patches
}

/// Lines that change.
struct Hunk {
    /// First line, from 1.
    line: usize,
    old: Vec<String>,
    new: Vec<String>,
}

impl Hunk {
    /// The list of a kernel's `autotune`, which begins at or behind a line.
    fn of(source: &str, line: u32, studies: &[&LiveStudy]) -> Option<Hunk> {
        let starts: Vec<usize> =
            std::iter::once(0).chain(source.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let from = *starts.get((line as usize).checked_sub(1)?)?;
        let call = from + source[from..].find("autotune(")?;
        let until = source[from..].find("\ndef ").map_or(source.len(), |it| from + it);
        if call > until {
            return None;
        }
        let prefix = source[..call].rsplit(['@', '\n']).next()?;
        let inside = call + "autotune(".len();
        let named = arguments(source, inside).into_iter().find_map(|(start, end)| {
            let text = &source[start..end];
            let value = text.trim_start().strip_prefix("configs")?.trim_start().strip_prefix('=')?;
            Some((end - value.len(), end))
        });
        let (start, end) = named.or_else(|| arguments(source, inside).first().copied())?;
        let start = start + source[start..end].len() - source[start..end].trim_start().len();
        let mut configs: Vec<String> = Vec::new();
        if studies.iter().any(|it| it.has_nameless_hook()) {
            return None;
        }
        for study in studies {
            let config = study.config(study.proof.winner?, prefix);
            if !configs.contains(&config) {
                configs.push(config);
            }
        }
        let first = starts.partition_point(|it| *it <= start) - 1;
        let last = starts.partition_point(|it| *it < end) - 1;
        let stop = starts.get(last + 1).copied().unwrap_or(source.len());
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        let indent: String = source[starts[first]..].chars().take_while(|it| *it == ' ').collect();
        let list: String = configs.iter().map(|it| format!("{indent}    {it},\n")).collect();
        let new = format!("{}[\n{list}{indent}]{}", &source[starts[first]..start], &source[end..stop]);
        Some(Hunk { line: first + 1, old: lines(&source[starts[first]..stop]), new: lines(&new) })
    }

    fn text(&self, moved: i64) -> String {
        let (old, new) = (self.old.len(), self.new.len());
        let mut text = format!("@@ -{},{old} +{},{new} @@\n", self.line, self.line as i64 + moved);
        self.old.iter().for_each(|it| text += &format!("-{it}\n"));
        self.new.iter().for_each(|it| text += &format!("+{it}\n"));
        text
    }
}

/// Arguments of a call whose parenthesis opened before `at`: start and end of each. Empty if it does not end.
fn arguments(source: &str, at: usize) -> Vec<(usize, usize)> {
    let bytes = source.as_bytes();
    let (mut found, mut depth, mut start, mut place) = (Vec::new(), 0, at, at);
    while let Some(&byte) = bytes.get(place) {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => {
                if !source[start..place].trim().is_empty() {
                    found.push((start, place));
                }
                return found;
            }
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                found.push((start, place));
                start = place + 1;
            }
            b'#' => place += source[place..].find('\n').unwrap_or(source.len() - place),
            b'"' | b'\'' => place = end_of_text(bytes, place),
            _ => {}
        }
        place += 1;
    }
    Vec::new()
}

/// Place of the last quote of a text that begins at `at`.
fn end_of_text(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let triple = bytes.get(at..at + 3) == Some(&[quote; 3]);
    let mut place = at + if triple { 3 } else { 1 };
    while let Some(&byte) = bytes.get(place) {
        match byte {
            b'\\' => place += 1,
            _ if byte == quote && !triple => return place,
            _ if triple && bytes.get(place..place + 3) == Some(&[quote; 3]) => return place + 2,
            _ => {}
        }
        place += 1;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use tune::{Parameter, Space};

    fn study() -> LiveStudy {
        let parameter = |name: &str, values: Vec<Value>| Parameter { name: name.to_owned(), values };
        let parameters = vec![
            parameter("BLOCK", vec![Value::Int(64)]),
            parameter("ACT", vec![Value::Text("relu".into())]),
            parameter("num_warps", vec![Value::Int(4)]),
            parameter("kpack", vec![Value::Text(UNSET.into())]),
        ];
        LiveStudy {
            kernel: "kernel".into(),
            key: String::new(),
            file: "/a/b.py".into(),
            line: 3,
            space: Arc::new(Space::listed(parameters, vec![vec![0; 4]]).unwrap()),
            listed: 1,
            left_out: Vec::new(),
            attempts: Vec::new(),
            start: None,
            proof: super::super::super::Proof { winner: Some(0), ..Default::default() },
            cache: None,
            modelled: true,
            unfinished: false,
            expected: 0,
            earlier: 0,
        }
    }

    #[test]
    fn patches_replace_the_list() {
        let config = "triton.Config({\"BLOCK\": 64, \"ACT\": \"relu\"}, num_warps=4)";
        for (source, old, new) in [
            (
                "import triton\n\n@triton.autotune(configs=configurations(1, 2), key=[\"M\"])\n@triton.jit\ndef kernel():\n",
                "-@triton.autotune(configs=configurations(1, 2), key=[\"M\"])\n",
                format!("+@triton.autotune(configs=[\n+    {config},\n+], key=[\"M\"])\n"),
            ),
            (
                "import triton\n\n@triton.autotune(\n    configs=[\n        triton.Config({}),  # a ) in a comment\n    ],\n    key=['M'],\n)\n@triton.jit\ndef kernel():\n",
                "-    configs=[\n-        triton.Config({}),  # a ) in a comment\n-    ],\n",
                format!("+    configs=[\n+        {config},\n+    ],\n"),
            ),
            (
                "import triton\n\n@triton.autotune(LIST, [\"M\"])\n@triton.jit\ndef kernel():\n",
                "-@triton.autotune(LIST, [\"M\"])\n",
                format!("+@triton.autotune([\n+    {config},\n+], [\"M\"])\n"),
            ),
        ] {
            let patches = patches(&[study()], &|_| Some(source.to_owned()));
            assert_eq!(patches.len(), 1, "{source}");
            assert!(patches[0].text.contains(old) && patches[0].text.contains(&new), "{}", patches[0].text);
        }
        for source in ["", "\n\ndef kernel(): pass\n", "\n\n@triton.autotune(\n"] {
            assert_eq!(patches(&[study()], &|_| Some(source.to_owned())), [], "{source}");
        }
    }
}
