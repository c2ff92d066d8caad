//! Writes the generated files, or checks that they are as they would be written.
//!
//! A generated file is wholly generated and committed. A generator is one row of [`GENERATORS`]; it returns
//! contents and touches no file.

#[cfg(feature = "workspace")]
mod counter_page;
#[cfg(feature = "workspace")]
mod derived_counter_page;
#[cfg(feature = "workspace")]
mod environment_page;
#[cfg(feature = "workspace")]
mod gpu_pages;
#[cfg(feature = "workspace")]
mod guide_checks_page;
mod instruction_tables;
mod rule_list;
#[cfg(feature = "workspace")]
mod rule_pages;
#[cfg(feature = "workspace")]
mod schemas;
mod torch_page;

use crate::run::{below_root, files, root};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Contents by path below the workspace's folder.
pub(crate) type Outputs = BTreeMap<PathBuf, String>;

struct Generator {
    name: &'static str,
    /// Folders that hold only this generator's files; any other file in them is stale.
    owns: &'static [&'static str],
    generate: fn() -> Result<Outputs>,
}

const GENERATORS: &[Generator] = &[
    Generator {
        name: "instruction tables",
        owns: &[],
        generate: || {
            let text = instruction_tables::generate(root())?;
            Ok(Outputs::from([(PathBuf::from(instruction_tables::OUTPUT), text)]))
        },
    },
    Generator { name: "list of rules", owns: &[], generate: rule_list::generate },
    Generator { name: "page of torch's answers", owns: &[], generate: torch_page::generate },
    #[cfg(feature = "workspace")]
    Generator { name: "rule pages", owns: &["docs/rules"], generate: rule_pages::generate },
    #[cfg(feature = "workspace")]
    Generator { name: "JSON schemas", owns: &[], generate: schemas::generate },
    #[cfg(feature = "workspace")]
    Generator { name: "counter page", owns: &[], generate: counter_page::generate },
    #[cfg(feature = "workspace")]
    Generator { name: "page of derived counters", owns: &[], generate: derived_counter_page::generate },
    #[cfg(feature = "workspace")]
    Generator { name: "environment page", owns: &[], generate: environment_page::generate },
    #[cfg(feature = "workspace")]
    Generator { name: "page of guide checks", owns: &[], generate: guide_checks_page::generate },
    #[cfg(feature = "workspace")]
    Generator { name: "GPU pages", owns: &["docs/gpus"], generate: gpu_pages::generate },
];

pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let check = match arguments {
        [] => false,
        [option] if option == "--check" => true,
        other => bail!("`codegen` takes only `--check`, found `{}`", other.join(" ")),
    };
    generate(check)?;
    if cfg!(feature = "workspace") { Ok(()) } else { crate::with_workspace(&again(arguments)) }
}

/// The same task for this program built with our own crates.
fn again(arguments: &[String]) -> Vec<String> {
    std::iter::once("codegen".to_owned()).chain(arguments.iter().cloned()).collect()
}

/// Writes or checks the files of the generators that this program is built with: without our own crates the
/// sources that these crates need to compile.
pub(crate) fn generate(check: bool) -> Result<()> {
    let mut differing = Vec::new();
    for generator in GENERATORS {
        let outputs = (generator.generate)().with_context(|| format!("generator of {}", generator.name))?;
        for (path, content) in &outputs {
            let full = root().join(path);
            let old = std::fs::read_to_string(&full).ok();
            if old.as_deref() == Some(content) {
                continue;
            }
            differing.push(path.display().to_string());
            if !check {
                std::fs::create_dir_all(full.parent().expect("a file has a folder"))?;
                std::fs::write(&full, content).with_context(|| format!("cannot write {}", full.display()))?;
            }
        }
        for folder in generator.owns.iter().map(|folder| root().join(folder)).filter(|folder| folder.is_dir())
        {
            for path in files(&folder, |_| true)? {
                let name = below_root(&path);
                if !outputs.contains_key(&PathBuf::from(&name)) {
                    if !check {
                        std::fs::remove_file(&path)?;
                    }
                    differing.push(format!("{name} (stale)"));
                }
            }
        }
    }
    if check && !differing.is_empty() {
        bail!(
            "not as generated:\n  {}\nhint: run `cargo xtask codegen` and commit the result",
            differing.join("\n  ")
        );
    }

    println!("codegen: {} generators, {} files changed", GENERATORS.len(), differing.len());
    Ok(())
}
