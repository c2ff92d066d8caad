//! Paths of AITER's Triton configurations, which are half of the key of their entries.

/// Facts in the path of one of AITER's Triton configurations.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ConfigName {
    /// Folder, as given; empty if the path has none.
    pub folder: String,
    /// `gfx942`; `None` if neither the name nor a folder is a target.
    pub target: Option<String>,
    /// Kernel, as one spelling of both layouts: `gemm_a16w16`.
    pub kernel: String,
    /// Sizes the file is for, by their names: `N` 256 and `K` 6144. Empty for the kernel's default.
    pub sizes: Vec<(String, u64)>,
    /// The words of the path for display: `GEMM-A16W16-N=256-K=6144`.
    pub words: String,
}

impl ConfigName {
    /// Reads `gfx942-GEMM-A16W16-N=256-K=6144.json` of the older layout, or
    /// `gfx942/triton/gemm/gemm_afp4wfp4/DEFAULT.json` and, in the same folder,
    /// `GEMM-AFP4WFP4-N=256-K=6144.json` of the newer one.
    pub fn parse(path: &str) -> ConfigName {
        let (folder, base) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = base.strip_suffix(".json").unwrap_or(base);
        let is_target = |text: &str| text.starts_with("gfx") && text.len() > 3;
        let above = || folder.split('/').rfind(|it| is_target(it)).map(str::to_owned);
        let (target, rest) = match stem.split_once('-') {
            Some((first, rest)) if is_target(first) => (Some(first.to_owned()), rest),
            _ => (above(), stem),
        };
        let own = folder.rsplit('/').next().unwrap_or_default();
        let words = if rest == "DEFAULT" && !own.is_empty() { own } else { rest };
        let mut parts: Vec<&str> = words.split('-').collect();
        let mut sizes = Vec::new();
        while let Some((name, size)) = parts.last().and_then(|it| it.split_once('=')) {
            let Ok(size) = size.parse() else { break };
            sizes.insert(0, (name.to_owned(), size));
            parts.pop();
        }
        let kernel = parts.join("_").to_ascii_lowercase();
        ConfigName { folder: folder.to_owned(), target, kernel, sizes, words: words.to_owned() }
    }

    /// One of the sizes.
    pub fn size(&self, name: &str) -> Option<u64> {
        self.sizes.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// Whether the file is the default of a kernel that `other` is for with certain sizes.
    pub fn is_default_of(&self, other: &ConfigName) -> bool {
        let same =
            (&self.folder, &self.target, &self.kernel) == (&other.folder, &other.target, &other.kernel);
        same && self.sizes.is_empty() && !other.sizes.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_both_layouts() {
        for (path, target, kernel, sizes) in [
            ("gemm/gfx942-GEMM-A16W16.json", Some("gfx942"), "gemm_a16w16", vec![]),
            (
                "gfx942-GEMM-A8W8-N=256-K=6144.json",
                Some("gfx942"),
                "gemm_a8w8",
                vec![("N", 256), ("K", 6144)],
            ),
            ("c/gfx950/triton/gemm/gemm_afp4wfp4/DEFAULT.json", Some("gfx950"), "gemm_afp4wfp4", vec![]),
            (
                "c/gfx950/triton/gemm/gemm_afp4wfp4/GEMM-AFP4WFP4-N=18432-K=16384.json",
                Some("gfx950"),
                "gemm_afp4wfp4",
                vec![("N", 18432), ("K", 16384)],
            ),
            ("gfx942-FF-A16W16-fused.json", Some("gfx942"), "ff_a16w16_fused", vec![]),
            ("gfx942-MHA-DEFAULT.json", Some("gfx942"), "mha_default", vec![]),
            ("DEFAULT.json", None, "default", vec![]),
            ("x=.json", None, "x=", vec![]),
        ] {
            let name = ConfigName::parse(path);
            let found: Vec<(&str, u64)> = name.sizes.iter().map(|it| (it.0.as_str(), it.1)).collect();
            assert_eq!(
                (name.target.as_deref(), name.kernel.as_str(), found),
                (target, kernel, sizes),
                "{path}"
            );
        }
        let folder = "gfx950/triton/gemm/gemm_afp4wfp4";
        let default = ConfigName::parse(&format!("{folder}/DEFAULT.json"));
        let specific = ConfigName::parse(&format!("{folder}/GEMM-AFP4WFP4-N=8-K=16.json"));
        assert!(default.is_default_of(&specific) && !specific.is_default_of(&default));
        assert!(!default.is_default_of(&default));
    }
}
