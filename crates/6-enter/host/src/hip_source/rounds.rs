//! A source is compiled again without what only its host code lacks: headers, names, bodies of host functions.
//!
//! Only code for the GPU is wanted, but the compiler reads the host's code too. Nothing that runs on the GPU is changed: a kernel cannot
//! use the replacements for host code, so the compiler refuses the source if a function was taken for the host's by mistake.

use super::diagnostics::{Fault, Spot, faults};
use super::functions::{Outline, Place, launches};
use super::made::{self, Filling};
use super::{headers, write};
use crate::compiler::{ANY, STANDARD};
use crate::process::{self, Bounds};
use anyhow::{Context, Result};
use codeobj::{CodeObject, Wanted};
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};
use std::time::Instant;

/// Most seconds of all rounds together, and MiB of one, that a compiler may take.
const COMPILER: (f64, u64) = (300.0, 8 << 10);
/// Most times that a source is compiled.
pub(super) const ROUNDS: usize = 24;
/// Most headers that a message names.
const NAMED: usize = 3;
/// Most bytes of a file that is changed or filled in.
const MOST: u64 = 16 << 20;
/// Types that our declarations of the runtime have without their layout.
const OPAQUE: [&str; 1] = ["hipDeviceProp_t"];
/// Gives types without a layout another size and alignment.
const OTHER_LAYOUT: &str = "-D__RH_ANY_BYTES=48";

/// File with the names of the files that the compiler read.
const DEPENDENCIES: &str = "dependencies";

/// Parts of a source that its code lacks.
#[derive(Clone, Default, Debug)]
pub(super) struct LeftOut {
    /// A sentence each.
    pub(super) notes: Vec<String>,
    /// Kernels as launched that are not in the code, for want of the types they are launched with.
    pub(super) kernels: Vec<String>,
}

/// How a source was compiled.
pub(super) enum End {
    Code(Vec<u8>, LeftOut),
    /// The first errors as clang prints them, and why nothing can be left out.
    Refused {
        errors: String,
        why: String,
    },
}

/// A file of the project.
struct Changed {
    text: String,
    outline: Outline,
    /// By the start of the body.
    without: BTreeMap<usize, Without>,
}

/// A host function without its body.
struct Without {
    /// The first error in it.
    why: String,
    /// Launches with the arguments of templates stay, so that there is code for them.
    with_launches: bool,
    /// When it was last changed.
    round: usize,
}

/// Compiles a source again and again.
pub(super) struct Rounds<'a> {
    clang: &'a Path,
    options: &'a [OsString],
    source: &'a Path,
    /// The source as messages name it.
    called: &'a Path,
    folder: &'a Path,
    files: BTreeMap<PathBuf, Changed>,
    /// Names that nothing declares: whether it is a type, and since when.
    names: BTreeMap<String, (bool, usize)>,
    /// Headers that were found, with the folder that they are in, and another that has one of that name.
    found: BTreeMap<String, (PathBuf, Option<PathBuf>)>,
    /// Headers that the project's build makes, with their templates, and since when.
    made: BTreeMap<String, (PathBuf, usize)>,
    /// Headers that were not found, with folders that have one of that name, and since when.
    empty: BTreeMap<String, (Vec<PathBuf>, usize)>,
    /// The name of the standard library for which its headers are included, and since when.
    standard: Option<(String, usize)>,
}

impl<'a> Rounds<'a> {
    /// A source, called as in messages, to be compiled with files in a folder.
    pub(super) fn new(
        clang: &'a Path,
        options: &'a [OsString],
        source: &'a Path,
        called: &'a Path,
        folder: &'a Path,
    ) -> Self {
        Rounds {
            clang,
            options,
            source,
            called,
            folder,
            files: BTreeMap::new(),
            names: BTreeMap::new(),
            found: BTreeMap::new(),
            made: BTreeMap::new(),
            empty: BTreeMap::new(),
            standard: None,
        }
    }

    /// Compiles until it succeeds or nothing more can be left out.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub(super) fn run(mut self, rounds: usize) -> Result<End> {
        std::fs::create_dir_all(self.folder)
            .with_context(|| format!("cannot make `{}`", self.folder.display()))?;
        let code = self.folder.join("kernel.hsaco");
        let mut first: Option<String> = None;
        let begun = Instant::now();
        for round in 0..rounds {
            let ended = self.compile(&code, Filling::Off, begun)?;
            if ended.is_well() {
                let code = read(&code)?;
                let end = match self.depends_on_unknown(&code, begun)? {
                    Some(why) => Err(why),
                    None => self.left_out(&code)?,
                };
                return Ok(match end {
                    Ok(left_out) => End::Code(code, left_out),
                    Err(why) => End::Refused { errors: String::new(), why: self.with_headers(why) },
                });
            }
            let all = faults(&ended.errors);
            let line = match all.first() {
                Some(fault) => fault.line(|path| self.named(path)),
                None => ended.why(),
            };
            let errors = first.get_or_insert(ended.errors).clone();
            if rounds == 1 {
                return Ok(End::Refused { errors, why: line });
            }
            // The first mistake that cannot be left out is what is wrong with the source.
            let mut progress = false;
            for fault in &all {
                match self.leave_out(fault, round) {
                    Ok(more) => progress |= more,
                    Err(why) => return Ok(End::Refused { errors, why: self.with_headers(why) }),
                }
            }
            if !progress {
                return Ok(End::Refused { errors, why: self.with_headers(line) });
            }
        }
        let errors = first.unwrap_or_default();
        Ok(End::Refused {
            errors,
            why: format!("its host code cannot be read after {rounds} attempts to leave parts of it out"),
        })
    }

    /// Compiles once.
    fn compile(&self, code: &Path, filling: Filling, begun: Instant) -> Result<process::End> {
        let words = self.words(code, filling)?;
        let words: Vec<&OsStr> = words.iter().map(OsString::as_os_str).collect();
        let seconds = (COMPILER.0 - begun.elapsed().as_secs_f64()).max(1.0);
        let bounds = Bounds { seconds, memory_mib: COMPILER.1, ..Bounds::default() };
        Ok(process::program(&words, Path::new("."), &bounds))
    }

    /// Why the code is not the source's, if it depends on something unknown: it differs from the code with other sizes of types
    /// and other values of the build.
    fn depends_on_unknown(&mut self, code: &[u8], begun: Instant) -> Result<Option<String>> {
        let type_in_a_class = self.in_a_class()?;
        if type_in_a_class.is_none() && self.made.is_empty() {
            return Ok(None);
        }
        let other = self.folder.join("other.hsaco");
        let ended = self.compile(&other, Filling::On, begun)?;
        if ended.is_well() && read(&other)? == code {
            return Ok(None);
        }
        let mut what: Vec<String> = (self.made.iter())
            .map(|(name, (path, _))| format!("`{name}`, which the build makes of `{}`", self.named(path)))
            .collect();
        what.extend(
            type_in_a_class
                .map(|(place, name)| format!("the layout of `{name}`, which is not declared here ({place})")),
        );
        let begin = if ended.is_well() { "a kernel depends on" } else { "a kernel may depend on" };
        Ok(Some(format!("{begin} {}", what.join(", or on "))))
    }

    /// A type without a layout that a class of the project has, or that has another name there, with its file and line.
    fn in_a_class(&mut self) -> Result<Option<(String, String)>> {
        let path = self.folder.join(DEPENDENCIES);
        let listed =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let of_names = self.names.iter().filter(|it| it.1.0).map(|it| it.0.clone());
        // ROCm's headers have the layouts.
        let has_rocm = !self.options.iter().any(|it| it == "-nogpuinc");
        let of_runtime = OPAQUE.map(str::to_owned).into_iter().filter(|_| !has_rocm);
        let names: Vec<String> = of_runtime.chain(of_names).collect();
        let own: Vec<PathBuf> =
            dependencies(&listed).into_iter().filter(|it| self.is_of_project(it)).collect();
        Ok(own.iter().find_map(|path| {
            let file = self.open(path)?;
            let (line, name) = names.iter().find_map(|name| Some((file.line_in_a_class(name)?, name)))?;
            Some((format!("{}:{line}", self.named(path)), name.clone()))
        }))
    }

    /// An error with the headers that are not there.
    fn with_headers(&self, mut why: String) -> String {
        for (name, (folders, _)) in self.empty.iter().take(NAMED) {
            let _ = match &folders[..] {
                [a, b, ..] => write!(
                    why,
                    "; `{name}` is in {} folders (`{}`, `{}`): name the right one in CPATH",
                    folders.len(),
                    a.display(),
                    b.display()
                ),
                _ => write!(why, "; `{name}` is not found: name its folder in CPATH"),
            };
        }
        if self.empty.len() > NAMED {
            let _ = write!(why, "; {} more headers are not found", self.empty.len() - NAMED);
        }
        why
    }

    /// The compiler's command, with its files written.
    fn words(&self, code: &Path, filling: Filling) -> Result<Vec<OsString>> {
        let mut words: Vec<OsString> = vec![self.clang.into()];
        words.extend(self.options.iter().cloned());
        words.extend(
            [
                "-w",
                "-Wno-non-pod-varargs",
                "-ferror-limit=0",
                "-fno-caret-diagnostics",
                "-fno-color-diagnostics",
                // Otherwise a hash of the options is in the code.
                "-cuid=0",
            ]
            .map(OsString::from),
        );
        if self.standard.is_some() {
            words.extend(["-include".into(), STANDARD.into()]);
        }
        let changed: Vec<(&PathBuf, &Changed)> =
            self.files.iter().filter(|it| !it.1.without.is_empty()).collect();
        if !(self.names.is_empty() && changed.is_empty()) {
            let mut text = format!("#pragma clang system_header\n#include \"../headers/{ANY}\"\n");
            for (name, (is_type, _)) in &self.names {
                let _ = writeln!(text, "{} __rh_any {name};", if *is_type { "typedef" } else { "extern" });
            }
            let path = self.folder.join("undeclared.h");
            write(&path, &text)?;
            words.extend(["-include".into(), path.into()]);
        }
        for (folder, _) in self.found.values() {
            words.extend(["-I".into(), folder.into()]);
        }
        if filling == Filling::On {
            words.push(OTHER_LAYOUT.into());
        }
        if !self.made.is_empty() {
            // The same place for both fillings: paths are in the code.
            let folder = self.folder.join("made");
            for (name, (template, _)) in &self.made {
                let text = String::from_utf8_lossy(&read(template)?).into_owned();
                write(&folder.join(name), &made::filled(&text, filling))?;
            }
            words.extend(["-I".into(), folder.into()]);
        }
        if !self.empty.is_empty() {
            let folder = self.folder.join("empty");
            for name in self.empty.keys() {
                write(&folder.join(name), "")?;
            }
            words.extend(["-idirafter".into(), folder.into()]);
        }
        if !changed.is_empty() {
            let mut files = Vec::new();
            for (number, (path, changed)) in changed.into_iter().enumerate() {
                let text = self.folder.join(format!("changed/{number}"));
                write(&text, &changed.written())?;
                files.push(serde_json::json!({"type": "file", "name": path, "external-contents": text}));
            }
            let overlay = serde_json::json!({"version": 0, "use-external-names": false, "roots": files});
            let path = self.folder.join("overlay.json");
            write(&path, &overlay.to_string())?;
            words.extend(["-ivfsoverlay".into(), path.into()]);
        }
        // `-MD` says nothing of code for a GPU.
        let listed = self.folder.join(DEPENDENCIES).into_os_string();
        for word in ["-dependency-file".into(), listed, "-MT".into(), "code".into()] {
            words.extend(["-Xclang".into(), word]);
        }
        words.extend([self.source.into(), "-o".into(), code.into()]);
        Ok(words)
    }

    /// Leaves out what an error complains about; whether anything changed.
    fn leave_out(&mut self, fault: &Fault, round: usize) -> Result<bool, String> {
        let line = fault.line(|path| self.named(path));
        if let Some(name) = fault.missing_header() {
            // A file of the project decides what kernels are; a library that is not here is the host's.
            let spot = fault.spots.first();
            let is_quoted =
                spot.is_none_or(|it| self.open(&it.file).is_none_or(|file| !file.line(it).contains('<')));
            let may_be_own = is_quoted && !headers::is_of_host_library(name);
            return self.header(name, may_be_own, round).ok_or(line);
        }
        if let Some(name) = fault.missing_in_std() {
            match &self.standard {
                None => {
                    self.standard = Some((name.to_owned(), round));
                    return Ok(true);
                }
                Some((_, since)) if *since == round => return Ok(false),
                Some(_) => {}
            }
        }
        let own = fault.spots.iter().find(|spot| self.is_of_project(&spot.file));
        let Some((spot, at)) = own.and_then(|spot| Some((spot.clone(), self.open(&spot.file)?.at(spot)?)))
        else {
            return Err(line);
        };
        let Some(changed) = self.files.get_mut(&spot.file) else { return Err(line) };
        let name = fault.undeclared().filter(|it| is_identifier(it.0));
        let body = match changed.outline.place(at) {
            Place::Function(function) if !function.is_device => Some(function.body.clone()),
            Place::Open
                if name.is_some_and(|it| it.1) || name.is_some() && !is_alias(changed.line(&spot)) =>
            {
                None
            }
            // The second compilation shows whether a kernel needs the class or the other name.
            Place::Other if name.is_some_and(|it| it.1) => None,
            _ => return Err(line),
        };
        let without = body.as_ref().and_then(|it| changed.without.get_mut(&it.start));
        match (without, body) {
            (Some(without), _) if without.round == round => Ok(false),
            (Some(without), _) if without.with_launches => {
                (without.with_launches, without.round) = (false, round);
                Ok(true)
            }
            // The GPU needs it, and its first error counts.
            (Some(without), _) => Err(without.why.clone()),
            (None, body) => {
                if let Some((name, is_type)) = name {
                    match self.names.get(name) {
                        None => {
                            self.names.insert(name.to_owned(), (is_type, round));
                            return Ok(true);
                        }
                        Some((_, declared)) if *declared == round => return Ok(false),
                        Some(_) => {}
                    }
                }
                let Some(body) = body else { return Err(line) };
                let with_launches = launches(&changed.text[body.clone()]).iter().any(|it| it.contains('<'));
                changed.without.insert(body.start, Without { why: line, with_launches, round });
                Ok(true)
            }
        }
    }

    /// Finds a missing header in the project, or takes the header of a library for empty; `None` if neither is right.
    fn header(&mut self, name: &str, may_be_own: bool, round: usize) -> Option<bool> {
        let is_inside =
            Path::new(name).components().all(|it| matches!(it, Component::Normal(_) | Component::ParentDir));
        let since = self.empty.get(name).map(|it| it.1).or_else(|| self.made.get(name).map(|it| it.1));
        if !is_inside || since.is_some() {
            return since.filter(|it| *it == round).map(|_| false);
        }
        let folders = headers::folders_with(name, self.source);
        // Builds name the folder of their sources, and other variants of the program have headers of the same name.
        let own = folders.iter().find(|it| Some(it.as_path()) == self.source.parent());
        if let Some(folder) = own.or(folders.first().filter(|_| folders.len() == 1)) {
            let other = folders.iter().find(|it| *it != folder).cloned();
            self.found.insert(name.to_owned(), (folder.clone(), other));
            return Some(true);
        }
        let template = if folders.is_empty() { made::template(name, self.source) } else { None };
        match template {
            Some(template) if !name.contains("..") && is_small(&template) => {
                self.made.insert(name.to_owned(), (template, round));
            }
            _ => {
                self.empty.insert(name.to_owned(), (folders, round));
                if may_be_own || name.contains("..") {
                    return None;
                }
            }
        }
        Some(true)
    }

    /// Whether a file may be changed: no header of the system, the compiler or our own.
    fn is_of_project(&self, file: &Path) -> bool {
        let is_below = |folder: &Path| file.starts_with(folder);
        let own = self.folder.parent().unwrap_or(self.folder);
        self.source == file || !is_below(own) && !["/usr", "/opt"].iter().any(|it| is_below(Path::new(it)))
    }

    /// A file of the project, read when it is first needed.
    fn open(&mut self, path: &Path) -> Option<&Changed> {
        if !self.files.contains_key(path) {
            let bytes = is_small(path).then(|| std::fs::read(path).ok()).flatten()?;
            let text = String::from_utf8(bytes).unwrap_or_else(|it| without_letters(it.as_bytes()));
            let outline = Outline::of(&text);
            self.files.insert(path.to_owned(), Changed { text, outline, without: BTreeMap::new() });
        }
        self.files.get(path)
    }

    /// A path as messages have it: the source as given, other files from its folder if they are in it.
    fn named(&self, path: &Path) -> String {
        if path == self.source {
            return self.called.display().to_string();
        }
        let folder = self.source.parent().unwrap_or(Path::new("/"));
        path.strip_prefix(folder).unwrap_or(path).display().to_string()
    }

    /// Parts that the code lacks; or why the code is not the source's, if a kernel is made for a type that nothing declares.
    fn left_out(&self, code: &[u8]) -> Result<Result<LeftOut, String>> {
        let mut kernels: Vec<String> = Vec::new();
        for found in codeobj::scan(code, &Wanted::all())? {
            let object = CodeObject::read(&found?.data)?;
            kernels.extend(object.kernels.into_iter().map(|it| it.demangled));
        }
        if let Some(kernel) = kernels.iter().find(|it| it.contains("__rh_any")) {
            return Ok(Err(format!("`{kernel}` is launched for a type that nothing declares (`__rh_any`)")));
        }
        let mut left_out = LeftOut::default();
        for (name, (folder, other)) in &self.found {
            let other = other.as_ref().map_or_else(String::new, |it| {
                format!(", the folder of the source; `{}` has one, too", it.display())
            });
            left_out.notes.push(format!("`{name}` is taken from `{}`{other}", folder.display()));
        }
        for (name, (template, _)) in &self.made {
            left_out.notes.push(format!(
                "`{name}`, which the build makes of `{}`, is not found: no kernel depends on it",
                self.named(template)
            ));
        }
        for name in self.empty.keys() {
            left_out
                .notes
                .push(format!("`{name}` is not found and is read as an empty file, without its macros"));
        }
        if let Some((name, _)) = &self.standard {
            left_out
                .notes
                .push(format!("no header that is found declares `std::{name}`: headers of C++ are included"));
        }
        for changed in self.files.values() {
            for function in &changed.outline.functions {
                let Some(without) = changed.without.get(&function.body.start) else { continue };
                left_out
                    .notes
                    .push(format!("host function `{}` is left out: {}", function.name, without.why));
                for kernel in launches(&changed.text[function.body.clone()]) {
                    let stays = if kernel.contains('<') {
                        without.with_launches
                    } else {
                        has_plain(&kernels, &kernel)
                    };
                    if !stays && !left_out.kernels.contains(&kernel) {
                        left_out.kernels.push(kernel);
                    }
                }
            }
        }
        Ok(Ok(left_out))
    }
}

impl Changed {
    /// The line of a place.
    fn line(&self, spot: &Spot) -> &str {
        self.text.lines().nth(spot.line - 1).unwrap_or_default()
    }

    /// The byte of a place.
    fn at(&self, spot: &Spot) -> Option<usize> {
        let line = self.text.split_inclusive('\n').take(spot.line - 1).map(str::len).sum::<usize>();
        Some(line + spot.column - 1).filter(|it| *it <= self.text.len())
    }

    /// The first line with a word in a class, or that gives a type of this name another one.
    fn line_in_a_class(&self, word: &str) -> Option<usize> {
        let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
        let is_there = |at: usize| {
            let (before, after) = (&self.text[..at], &self.text[at + word.len()..]);
            let line = before.rsplit('\n').next().unwrap_or_default();
            let is_word = !before.ends_with(is_part) && !after.starts_with(is_part);
            is_word
                && match self.outline.place(at) {
                    Place::Function(_) => false,
                    Place::Other => true,
                    Place::Open => is_alias(line) || line.trim_start().starts_with('#'),
                }
        };
        let (at, _) = self.text.match_indices(word).find(|it| is_there(it.0))?;
        Some(1 + self.text[..at].matches('\n').count())
    }

    /// The text without the bodies; every line keeps its number.
    fn written(&self) -> String {
        let mut out = String::with_capacity(self.text.len());
        let mut from = 0;
        for function in &self.outline.functions {
            let Some(without) = self.without.get(&function.body.start) else { continue };
            let body = &self.text[function.body.clone()];
            out += &self.text[from..function.body.start];
            out += "__rh_left_out(); ";
            for kernel in launches(body).iter().filter(|it| without.with_launches && it.contains('<')) {
                out += &format!("(void)({kernel}); ");
            }
            out.extend(body.chars().filter(|it| *it == '\n'));
            from = function.body.end;
        }
        out + &self.text[from..]
    }
}

/// Files in a rule of `make`, but for what it makes.
fn dependencies(rule: &str) -> Vec<PathBuf> {
    let paths = rule.split_once(": ").map_or("", |it| it.1);
    let plain = [("\\\n", " "), ("\\ ", "\0"), ("\\#", "#"), ("$$", "$")];
    let paths = plain.into_iter().fold(paths.to_owned(), |text, (from, to)| text.replace(from, to));
    paths.split_whitespace().map(|it| it.replace('\0', " ").into()).collect()
}

/// Whether a file may be read whole.
fn is_small(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|it| it.len() <= MOST)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// A text that is not UTF-8, with a question mark for each byte beyond ASCII, so that places stay.
fn without_letters(bytes: &[u8]) -> String {
    bytes.iter().map(|it| if it.is_ascii() { char::from(*it) } else { '?' }).collect()
}

fn is_identifier(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    !text.is_empty() && text.chars().all(is_part) && !text.starts_with(|it: char| it.is_ascii_digit())
}

/// Whether one of the kernels has this name and not an instance of a template.
fn has_plain(kernels: &[String], name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name);
    kernels.iter().any(|it| {
        let head = it.split('(').next().unwrap_or(it);
        !head.contains('<') && head.rsplit("::").next() == Some(name)
    })
}

/// Whether a line names a type anew.
fn is_alias(line: &str) -> bool {
    line.contains("typedef") || line.contains("using")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_rule() {
        let rule = "/out/a.hsaco: /src/a\\ b.hip \\\n  /src/c\\#.h /src/$$d.h\n";
        assert_eq!(dependencies(rule), ["/src/a b.hip", "/src/c#.h", "/src/$d.h"].map(PathBuf::from));
        assert!(dependencies("").is_empty());
    }
}
