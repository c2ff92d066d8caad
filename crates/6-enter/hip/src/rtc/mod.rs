//! Compilation at run time: what `libhiprtc.so` does, with a clang of this machine.
//!
//! The library has its own declarations of the language's additions to C++, so neither ROCm nor HIP headers
//! are needed; a program gets a linked code object, as from the vendor's.

mod compiler;
mod options;

use crate::message::{say, say_once};
use codeobj::Image;
use compiler::Built;
use host::compiler::{BUILTINS, HEADERS, Toolchain};
use options::Options;
use std::collections::BTreeMap;
use std::ffi::{CString, OsString};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// A result other than success.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Failure(pub(crate) i32);

#[allow(missing_docs, reason = "names of the C interface")]
impl Failure {
    pub(crate) const PROGRAM_CREATION: Failure = Failure(2);
    pub(crate) const INVALID_INPUT: Failure = Failure(3);
    pub(crate) const INVALID_PROGRAM: Failure = Failure(4);
    pub(crate) const COMPILATION: Failure = Failure(6);
    pub(crate) const NAMES_AFTER_COMPILATION: Failure = Failure(8);
    pub(crate) const NAMES_BEFORE_COMPILATION: Failure = Failure(9);
    pub(crate) const NAME_NOT_VALID: Failure = Failure(10);
    pub(crate) const INTERNAL: Failure = Failure(11);
    pub(crate) const LINKING: Failure = Failure(100);
}

/// Variables that hold the addresses of what name expressions name.
const NAME_VARIABLE: &str = "__rockhound_name_";

/// Most bytes of an image whose names are looked up.
const MOST_IMAGE: u64 = 1 << 30;

/// Versions of the interface: major, minor.
pub(crate) const VERSION: [i32; 2] = [9, 0];

/// A program to be compiled.
#[derive(Debug, Default)]
pub(crate) struct Program {
    source: String,
    /// File name in messages.
    name: String,
    /// Headers of the program: name, contents.
    headers: Vec<(String, String)>,
    expressions: Vec<String>,
    /// Linker names of the expressions, which the caller holds pointers to.
    lowered: BTreeMap<String, CString>,
    compiled: bool,
    /// Messages of the compiler.
    pub(crate) log: String,
    /// Linked code object.
    pub(crate) code: Vec<u8>,
    /// Bitcode, with `-fgpu-rdc`.
    pub(crate) bitcode: Vec<u8>,
}

impl Program {
    pub(crate) fn new(source: String, name: Option<String>, headers: Vec<(String, String)>) -> Program {
        let name = name.filter(|it| !it.is_empty()).unwrap_or_else(|| "program.hip".to_string());
        Program { source, name, headers, ..Program::default() }
    }

    /// Asks for the linker name of an expression.
    pub(crate) fn add_expression(&mut self, expression: String) -> Result<(), Failure> {
        if self.compiled {
            return Err(Failure::NAMES_AFTER_COMPILATION);
        }
        self.expressions.push(expression);
        Ok(())
    }

    /// The linker name of an expression.
    pub(crate) fn lowered(&self, expression: &str) -> Result<*const libc::c_char, Failure> {
        if !self.compiled {
            return Err(Failure::NAMES_BEFORE_COMPILATION);
        }
        self.lowered.get(expression).map(|it| it.as_ptr()).ok_or(Failure::NAME_NOT_VALID)
    }

    /// Compiles for the GPU that is emulated, unless the options name another target.
    pub(crate) fn compile(&mut self, own_target: &str, texts: &[String]) -> Result<(), Failure> {
        let options = Options::parse(texts);
        let target = options.target.clone().unwrap_or_else(|| own_target.to_string());
        (self.code, self.bitcode, self.compiled) = (Vec::new(), Vec::new(), false);
        self.lowered.clear();
        let folder = Folder::new()?;
        let (source, empty) = (folder.file("source.hip"), folder.file("empty.hip"));
        let output = folder.file("output");
        folder.write("source.hip", self.text().as_bytes())?;
        folder.write("empty.hip", b"extern \"C\" __global__ void empty() {}\n")?;
        for (name, contents) in HEADERS {
            folder.write(&format!("builtin/{name}"), contents.as_bytes())?;
        }
        for (name, contents) in &self.headers {
            let is_inside =
                Path::new(name).components().all(|it| matches!(it, Component::Normal(_) | Component::CurDir));
            if !is_inside || name.is_empty() {
                self.log = format!("the header name `{name}` leads out of the program's own headers\n");
                return Err(Failure::COMPILATION);
            }
            folder.write(&format!("include/{name}"), contents.as_bytes())?;
        }
        let common = |toolchain: &Toolchain| {
            let mut all: Vec<OsString> = Vec::new();
            let mut add = |texts: &[&str]| all.extend(texts.iter().map(OsString::from));
            add(&["-x", "hip", "--cuda-device-only", "-nogpuinc", "-nogpulib", "--no-gpu-bundle-output"]);
            add(&["-O3", "-std=c++17", "-mcode-object-version=5", "-fdeclspec", "-fno-color-diagnostics"]);
            add(&["-D__HIPCC_RTC__=1", "-D__HIPCC__=1", "-D__HIP_PLATFORM_AMD__=1"]);
            add(&["-DHIP_VERSION_MAJOR=7", "-DHIP_VERSION_MINOR=1", &format!("--offload-arch={target}")]);
            all.extend(toolchain.library_options(target.split(':').next().unwrap_or_default()));
            all.extend([
                // Before the program's folders: ROCm's own `hip/` there would declare everything twice.
                OsString::from("-I"),
                folder.file("builtin").into(),
                "-include".into(),
                BUILTINS.into(),
            ]);
            all
        };
        let arguments = |toolchain: &Toolchain| {
            let mut all = common(toolchain);
            all.extend([OsString::from("-I"), folder.file("include").into()]);
            if options.is_relocatable {
                all.extend(["-fgpu-rdc", "-emit-llvm", "-c"].map(OsString::from));
            }
            all.extend(options.rest.iter().cloned());
            all.extend([source.clone().into_os_string(), "-o".into(), output.clone().into_os_string()]);
            all
        };
        let probe = |toolchain: &Toolchain| {
            let mut all = common(toolchain);
            all.extend([empty.clone().into_os_string(), "-o".into(), folder.file("empty").into_os_string()]);
            all
        };
        let Built { success, log } = compiler::build(&target, arguments, probe).map_err(|why| {
            say(&format!("cannot compile `{}` at run time: {}", self.name, why.trim_end()));
            self.log = why;
            Failure::COMPILATION
        })?;
        self.log = log;
        if !success {
            if self.log.contains("undefined hidden symbol: __ocml_") || self.log.contains("symbol: __ockl_") {
                self.log += "hint: these functions are in the device libraries: `apt-get install rocm-device-libs`, or name their folder in \
                             HIP_DEVICE_LIB_PATH\n";
            }
            return Err(Failure::COMPILATION);
        }
        let made = std::fs::read(&output).map_err(|_| Failure::INTERNAL)?;
        if options.is_relocatable {
            if !self.expressions.is_empty() {
                say_once("linker names of name expressions are not supported with -fgpu-rdc");
            }
            self.bitcode = made;
        } else {
            self.lowered = lowered_names(&made, &self.expressions);
            self.code = made;
        }
        self.compiled = true;
        Ok(())
    }

    /// The compiled source: followed by the requested names, which instantiates templates.
    fn text(&self) -> String {
        let quoted: String = self.name.chars().filter(|it| !matches!(it, '"' | '\\' | '\n' | '\0')).collect();
        let mut text = format!("#line 1 \"{quoted}\"\n{}\n", self.source);
        for (number, expression) in self.expressions.iter().enumerate() {
            let expression = expression.trim().trim_start_matches('&');
            text += &format!(
                "#line 1 \"hiprtcAddNameExpression\"\nextern \"C\" __attribute__((device, used)) const void *const \
                 {NAME_VARIABLE}{number} = (const void *)&{expression};\n"
            );
        }
        text
    }
}

/// Linker names of expressions: the symbol at the address that the variable of an expression holds.
fn lowered_names(code: &[u8], expressions: &[String]) -> BTreeMap<String, CString> {
    let mut names = BTreeMap::new();
    let image = match Image::read(code) {
        Ok(image) if !expressions.is_empty() && image.bytes <= MOST_IMAGE => image,
        _ => return names,
    };
    let mut memory = vec![0; image.bytes as usize];
    image.place(&mut memory, 0);
    for (number, expression) in expressions.iter().enumerate() {
        let name = image.symbol(&format!("{NAME_VARIABLE}{number}")).and_then(|variable| {
            let at = usize::try_from(variable.address).ok()?;
            let address = u64::from_le_bytes(*memory.get(at..)?.first_chunk()?);
            let named = image.symbols.iter().find(|it| it.address == address && !it.name.ends_with(".kd"))?;
            CString::new(named.name.as_str()).ok()
        });
        names.extend(name.map(|name| (expression.clone(), name)));
    }
    names
}

/// Code that is being linked.
#[derive(Debug, Default)]
pub(crate) struct Link {
    /// Bitcode, one entry per piece.
    inputs: Vec<Vec<u8>>,
    /// The result, which the caller holds a pointer to.
    pub(crate) code: Vec<u8>,
}

/// Kinds of input that are linked.
const BITCODE: u32 = 100;
const BUNDLED_BITCODE: u32 = 101;

impl Link {
    /// Adds bitcode.
    pub(crate) fn add(&mut self, kind: u32, data: &[u8], own_target: &str) -> Result<(), Failure> {
        let data = match kind {
            BITCODE => data.to_vec(),
            BUNDLED_BITCODE => from_bundle(data, own_target).ok_or(Failure::INVALID_INPUT)?,
            other => {
                say_once(&format!(
                    "hiprtcLinkAddData: input of kind {other} is not supported; LLVM bitcode is ({BITCODE}, in a bundle {BUNDLED_BITCODE})"
                ));
                return Err(Failure::INVALID_INPUT);
            }
        };
        if !data.starts_with(b"BC\xc0\xde") {
            say_once("hiprtcLinkAddData: the input is not LLVM bitcode");
            return Err(Failure::INVALID_INPUT);
        }
        self.inputs.push(data);
        Ok(())
    }

    /// Links the added pieces.
    pub(crate) fn complete(&mut self, own_target: &str) -> Result<(), Failure> {
        if self.inputs.is_empty() {
            return Err(Failure::LINKING);
        }
        let folder = Folder::new()?;
        let mut inputs = Vec::new();
        for (number, data) in self.inputs.iter().enumerate() {
            let name = format!("{number}.bc");
            folder.write(&name, data)?;
            inputs.push(folder.file(&name).into_os_string());
        }
        folder.write("empty.ll", b"define amdgpu_kernel void @empty() { ret void }\n")?;
        let output = folder.file("output");
        let common = |made: &Path| {
            let processor = own_target.replace(":sramecc+:xnack-", "");
            let mcpu = format!("-mcpu={processor}");
            let mut all: Vec<OsString> =
                ["--target=amdgcn-amd-amdhsa", &mcpu, "-nogpulib", "-flto", "-O3", "-mcode-object-version=5"]
                    .map(OsString::from)
                    .to_vec();
            all.extend(["-o".into(), made.as_os_str().to_owned()]);
            all
        };
        let arguments = |_: &Toolchain| [common(&output), inputs.clone()].concat();
        let probe = |_: &Toolchain| {
            [common(&folder.file("empty")), vec![folder.file("empty.ll").into_os_string()]].concat()
        };
        let built = compiler::build(own_target, arguments, probe);
        let why = match built {
            Ok(Built { success: true, .. }) => {
                self.code = std::fs::read(&output).map_err(|_| Failure::INTERNAL)?;
                return Ok(());
            }
            Ok(Built { log, .. }) => log,
            Err(why) => why,
        };
        say(&format!("cannot link bitcode at run time: {}", why.trim_end()));
        Err(Failure::LINKING)
    }
}

/// The bitcode for a target in a bundle of several.
fn from_bundle(data: &[u8], target: &str) -> Option<Vec<u8>> {
    let u64_at = |at: usize| Some(u64::from_le_bytes(*data.get(at..)?.first_chunk()?));
    if !data.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
        return None;
    }
    let processor = target.split(':').next()?;
    let mut at = 32;
    for _ in 0..u64_at(24)?.min(1000) {
        let [offset, bytes, length] = [u64_at(at)?, u64_at(at + 8)?, u64_at(at + 16)?];
        let [offset, bytes, length] =
            [offset, bytes, length].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        let name = data.get(at + 24..(at + 24).checked_add(length)?)?;
        let name = String::from_utf8_lossy(name);
        if name.contains(processor) {
            return Some(data.get(offset..offset.checked_add(bytes)?)?.to_vec());
        }
        at = (at + 24).checked_add(length)?;
    }
    None
}

/// A private folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, Failure> {
        use std::os::unix::fs::DirBuilderExt as _;
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rockhound-rtc-{}-{number}", std::process::id()));
        match std::fs::DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => Ok(Folder(path)),
            Err(error) => {
                say(&format!("cannot make {}: {error}", path.display()));
                Err(Failure::INTERNAL)
            }
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, contents: &[u8]) -> Result<(), Failure> {
        let path = self.file(name);
        let folder = path.parent().unwrap_or(&self.0);
        std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&path, contents)).map_err(|error| {
            say(&format!("cannot write {}: {error}", path.display()));
            Failure::INTERNAL
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A failure leaves files only in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
