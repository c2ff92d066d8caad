//! Kernels that the HIP runtime launches by itself.
//!
//! Users cannot change their code or their launch, only the calls that cause them.

use std::sync::LazyLock;

/// Purpose of a kernel that the runtime launches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RuntimeKernel {
    /// Beginning of its name.
    name: &'static str,
    /// `a copy`, `a fill`.
    pub what: &'static str,
    /// The calls that cause it.
    pub calls: &'static str,
}

static KNOWN: LazyLock<Vec<RuntimeKernel>> = LazyLock::new(|| {
    let row = |line: &'static str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [name, what, calls] = fields[..] else { return None };
        (!name.starts_with('#')).then_some(RuntimeKernel { name, what, calls })
    };
    include_str!("../data/runtime-kernels.tsv").lines().filter_map(row).collect()
});

impl RuntimeKernel {
    /// The runtime's kernel of this name; `None` for kernels of the program.
    pub fn by_name(kernel: &str) -> Option<Self> {
        let known = KNOWN.iter().filter(|it| kernel.starts_with(it.name));
        known.max_by_key(|it| it.name.len()).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_name_counts() {
        for (kernel, what) in [
            ("__amd_rocclr_copyBuffer", Some("hipMemcpy")),
            ("__amd_rocclr_copyBufferAligned", Some("hipMemcpy")),
            ("__amd_rocclr_copyBufferRectAligned", Some("hipMemcpy2D, hipMemcpy3D")),
            ("__amd_rocclr_fillBufferAligned", Some("hipMemset")),
            ("__amd_rocclr_anything", Some("the HIP runtime")),
            ("copyBuffer(float*)", None),
        ] {
            assert_eq!(RuntimeKernel::by_name(kernel).map(|it| it.calls), what, "{kernel}");
        }
    }
}
