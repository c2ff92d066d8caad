//! One launch of a program as a launch file: code, arguments, the memory that they point to before and after.

use crate::memory::Allocations;
use crate::message::say;
use crate::work::Kernel;
use codeobj::Argument;
use emu::Program;
use host::launch_file::Element;
use host::session::{self, KernelNames};
use probe::Code;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The launch to capture.
#[derive(Debug)]
pub(crate) struct Capture {
    names: KernelNames,
    wanted: session::Capture,
    /// Launches of these kernels so far.
    seen: u64,
}

/// A launch that is under way.
pub(crate) struct Begun {
    folder: PathBuf,
    text: String,
    buffers: Vec<Buffer>,
}

/// Memory that an argument points to.
struct Buffer {
    name: String,
    address: usize,
    before: Vec<u8>,
}

impl Capture {
    pub(crate) fn new(wanted: &session::Capture) -> Capture {
        Capture { names: KernelNames::new(&wanted.kernels), wanted: wanted.clone(), seen: 0 }
    }

    /// Writes what is there before the launch, if it is the one wanted.
    pub(crate) fn begin(
        &mut self,
        (name, kernel): (&str, &Kernel),
        code: &Code,
        program: &Program,
        allocations: &Allocations,
    ) -> Option<Begun> {
        if !self.names.admit(name) && !self.names.admit(&kernel.function.name) {
            return None;
        }
        self.seen += 1;
        if self.seen != self.wanted.nth {
            return None;
        }
        let written = self.write(name, kernel, code, program, allocations);
        written.map_err(|error| say(&format!("cannot capture `{name}`: {error}"))).ok()
    }

    fn write(
        &self,
        name: &str,
        kernel: &Kernel,
        code: &Code,
        program: &Program,
        allocations: &Allocations,
    ) -> std::io::Result<Begun> {
        let folder = self.wanted.folder.clone();
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join("kernel.hsaco"), code.bytes())?;
        let mut text = format!("# {}\n", name.replace('\n', " "));
        let _ = writeln!(text, "# launch {} of these kernels, captured by `rockhound capture`", self.seen);
        let _ = writeln!(text, "code = \"kernel.hsaco\"\nkernel = {:?}", kernel.function.name);
        let _ = writeln!(text, "gpu = {:?}\ngrid = {:?}", self.wanted.gpu, kernel.grid);
        let _ = writeln!(text, "workgroup = {:?}\ndynamic_lds = {}", kernel.workgroup, kernel.dynamic_lds);
        let mut begun = Begun { folder, text, buffers: Vec::new() };
        let own = |it: &&Argument| !it.is_hidden();
        for (number, argument) in program.metadata.arguments.iter().filter(own).enumerate() {
            let (start, size) = (argument.offset as usize, argument.size as usize);
            let Some(bytes) = kernel.arguments.get(start..start + size) else { continue };
            let mut label = argument.name.clone();
            if label.is_empty() {
                label = format!("argument{number}");
            }
            let address = <[u8; 8]>::try_from(bytes).map(u64::from_le_bytes).unwrap_or_default() as usize;
            let pointed = allocations.find(address);
            match pointed.filter(|_| argument.kind == "global_buffer") {
                Some(pointed) => {
                    let end = pointed.base + pointed.bytes;
                    self.buffer(&mut begun, &label, allocations.host(address), end - address)?;
                }
                None => scalar(&mut begun.text, &label, bytes, argument),
            }
            if argument.kind == "by_value" {
                let words = bytes.chunks_exact(8).filter_map(|it| <[u8; 8]>::try_from(it).ok());
                if words.map(u64::from_le_bytes).any(|it| allocations.find(it as usize).is_some()) {
                    say(&format!(
                        "`{label}` of `{name}` is a structure with pointers: what they point to is not captured"
                    ));
                }
            }
        }
        Ok(begun)
    }

    fn buffer(&self, begun: &mut Begun, name: &str, address: usize, bytes: usize) -> std::io::Result<()> {
        let most = usize::try_from(self.wanted.most).unwrap_or(usize::MAX);
        if bytes > most {
            say(&format!(
                "`{name}` has {bytes} bytes, of which the first {most} are captured; `--most MIB` takes more"
            ));
        }
        let ends = |it: &&Buffer| (it.address..it.address + it.before.len()).contains(&address);
        if let Some(other) = begun.buffers.iter().find(ends) {
            say(&format!("`{name}` and `{}` share memory, and are two buffers in the capture", other.name));
        }
        // SAFETY: inside an allocation, which lives while the runtime is locked.
        let before = unsafe { bytes_at(address, bytes.min(most)) };
        std::fs::write(begun.folder.join(format!("{name}.bin")), &before)?;
        let element = Element::likely(&[&before]);
        let _ = writeln!(begun.text, "\n[[argument]]\nname = {name:?}\ntype = \"{}\"", element.name());
        let _ = writeln!(begun.text, "shape = [{}]\nfile = \"{name}.bin\"", before.len() / element.size());
        // The place of its result is known after the launch.
        let _ = writeln!(begun.text, "#{name}#");
        begun.buffers.push(Buffer { name: name.to_owned(), address, before });
        Ok(())
    }
}

/// An argument that is passed by value.
fn scalar(text: &mut String, name: &str, bytes: &[u8], argument: &Argument) {
    let digits: String = bytes.iter().map(|it| format!("{it:02x}")).collect();
    let kind =
        if argument.type_name.is_empty() { String::new() } else { format!("  # {}", argument.type_name) };
    let _ = writeln!(text, "\n[[argument]]\nname = {name:?}\ntype = \"u8\"\nbytes = \"{digits}\"{kind}");
}

/// A copy of memory.
///
/// # Safety
/// The bytes may be read.
unsafe fn bytes_at(address: usize, bytes: usize) -> Vec<u8> {
    let start = std::ptr::with_exposed_provenance::<u8>(address);
    // SAFETY: as the caller says.
    unsafe { std::slice::from_raw_parts(start, bytes) }.to_vec()
}

impl Begun {
    /// Writes what the launch left, and the launch file.
    pub(crate) fn end(mut self) {
        let folder = self.folder.clone();
        if let Err(error) = self.write(&folder) {
            say(&format!("cannot write {}: {error}", folder.display()));
        }
    }

    fn write(&mut self, folder: &Path) -> std::io::Result<()> {
        for buffer in &self.buffers {
            // SAFETY: as before the launch, which frees nothing.
            let after = unsafe { bytes_at(buffer.address, buffer.before.len()) };
            let place = format!("#{}#\n", buffer.name);
            let is_result = after != buffer.before;
            if is_result {
                std::fs::write(folder.join(format!("{}.after.bin", buffer.name)), &after)?;
            }
            let line = if is_result {
                format!("expected_file = \"{}.after.bin\"\n", buffer.name)
            } else {
                String::new()
            };
            self.text = self.text.replace(&place, &line);
        }
        std::fs::write(folder.join("LAUNCH.toml"), &self.text)
    }
}
