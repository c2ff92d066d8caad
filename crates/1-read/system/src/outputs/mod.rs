//! Outputs of AMD's tools and the tools of PCI and containers.

pub(crate) mod amd_smi;
pub(crate) mod collect_env;
pub(crate) mod docker;
pub(crate) mod inductor;
pub(crate) mod lscpu;
pub(crate) mod lspci;
pub(crate) mod rocm_smi;
pub(crate) mod rocminfo;
pub(crate) mod smi_table;
pub(crate) mod vllm;
