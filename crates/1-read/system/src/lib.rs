//! Facts of machines, environments, command lines and faults, from text and archives.
//!
//! A [`Fact`] that could not be read says why. A check must never take silence of a file for a good value, so
//! nothing here has a default.
//!
//! ```
//! let mut tree = rockhound_system::Tree::new("node1");
//! tree.insert("proc/sys/kernel/numa_balancing", b"1\n".to_vec());
//! let machine = rockhound_system::Machine::read(&tree, &[]);
//! assert_eq!(machine.numa_balancing.get().map(String::as_str), Some("1"));
//! assert_eq!(machine.smt.reason(), Some("/sys/devices/system/cpu/smt/control: absent"));
//! ```

mod archive;
mod boot;
pub mod capture;
pub mod command;
mod cpu;
pub mod environment;
mod error;
mod fact;
pub mod fault;
mod gather;
mod gpu;
pub mod job;
mod kfd;
mod machine;
mod merge;
mod outputs;
pub mod paste;
mod pci;
mod place;
mod recognize;
mod tar;
mod tree;
mod values;
pub mod variables;

pub use archive::{MOST_BYTES, MOST_ENTRIES, is_archive, read_archive, write_bundle};
pub use boot::{BootArguments, boot_arguments};
pub use cpu::{IdleState, cpu_list};
pub use environment::Environment;
pub use error::Error;
pub use fact::Fact;
pub use gpu::{AcsPort, Gpu, Link, PairLink};
pub use kfd::{KfdLink, KfdNode, LinkKind};
pub use machine::Machine;
pub use outputs::collect_env::CollectEnv;
pub use outputs::docker::DockerContainer;
pub use outputs::inductor::{
    InductorCode, InductorFile, MOST_FILES as MOST_INDUCTOR_FILES, inductor_file, is_inductor_folder,
};
pub use outputs::lscpu::Lscpu;
pub use outputs::vllm::{ServerLog, ServerLogScan};
pub use place::Surroundings;
pub use recognize::{Document, recognize};
pub use tree::{Content, Tree};
