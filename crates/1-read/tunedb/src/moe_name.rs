//! Names of fused-MoE files and of files for products with scales by block, which are half of the key of their
//! entries.

/// Facts in the name of a fused-MoE file, or of one for products: `N=…,K=…` in place of `E=…,N=…`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct MoeName {
    /// Experts; 0 for products.
    pub experts: u64,
    /// Size between the two products, per rank; columns of the result of a product.
    pub n: u64,
    /// Length of the sums of a product; none for fused mixtures of experts.
    pub k: Option<u64>,
    /// Device, `_` for blanks.
    pub device: String,
    /// Data types, if they differ from the model's.
    pub dtype: Option<String>,
    /// Block of the scales.
    pub block: Option<[u64; 2]>,
    /// Whether a blank follows the comma of the block: SGLang writes one, vLLM none.
    pub blank: bool,
    /// The second matrix product, SGLang only.
    pub down: bool,
    /// Folder with the Triton version, SGLang only: `triton_3_1_0`.
    pub folder: Option<String>,
}

impl MoeName {
    /// Parses a path; `None` if its last part does not have this form.
    pub fn parse(path: &str) -> Option<MoeName> {
        let (folder, base) =
            path.rsplit_once('/').map_or((None, path), |(folder, base)| (Some(folder), base));
        let stem = base.strip_suffix(".json")?;
        let (stem, down) = stem.strip_suffix("_down").map_or((stem, false), |stem| (stem, true));
        let mut name = MoeName { down, ..MoeName::default() };
        let folder = folder.and_then(|it| it.rsplit('/').next()).filter(|it| it.starts_with("triton_"));
        name.folder = folder.map(str::to_owned);
        let (stem, block) = stem.split_once(",block_shape=").map_or((stem, None), |(a, b)| (a, Some(b)));
        if let Some(block) = block {
            let inner = block.strip_prefix('[')?.strip_suffix(']')?;
            let (a, b) = inner.split_once(',')?;
            name.blank = b.starts_with(' ');
            name.block = Some([a.parse().ok()?, b.trim().parse().ok()?]);
        }
        for (at, part) in stem.split(',').enumerate() {
            let (key, value) = part.split_once('=')?;
            match (at, key) {
                (0, "E") => name.experts = value.parse().ok()?,
                (1, "N") if name.k.is_none() => name.n = value.parse().ok()?,
                (0, "N") => (name.n, name.k) = (value.parse().ok()?, Some(0)),
                (1, "K") if name.k.is_some() => name.k = Some(value.parse().ok()?),
                (2, "device_name") => name.device = value.to_owned(),
                (3, "dtype") => name.dtype = Some(value.to_owned()),
                _ => return None,
            }
        }
        let whole = !name.device.is_empty() && (!name.down || name.k.is_none());
        whole.then_some(name)
    }

    /// The last part of the path, in the spelling of vLLM (`blank` false) or SGLang (`blank` true).
    pub fn base(&self, blank: bool) -> String {
        let sizes = match self.k {
            Some(k) => format!("N={},K={k}", self.n),
            None => format!("E={},N={}", self.experts, self.n),
        };
        let mut out = format!("{sizes},device_name={}", self.device);
        if let Some(dtype) = &self.dtype {
            out.push_str(&format!(",dtype={dtype}"));
        }
        if let Some([a, b]) = self.block {
            out.push_str(&format!(",block_shape=[{a},{}{b}]", if blank { " " } else { "" }));
        }
        out.push_str(if self.down { "_down.json" } else { ".json" });
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back_exactly() {
        for (path, blank) in [
            ("E=8,N=14336,device_name=AMD_Instinct_MI300X.json", false),
            ("E=8,N=14336,device_name=AMD_Instinct_MI300X,dtype=fp8_w8a8.json", false),
            ("E=1,N=2,device_name=X,dtype=fp8_w8a8,block_shape=[128,128].json", false),
            ("E=1,N=2,device_name=X,block_shape=[128, 128].json", true),
            ("E=1,N=2,device_name=X_down.json", false),
            ("N=576,K=7168,device_name=X,dtype=fp8_w8a8,block_shape=[128,128].json", false),
            ("N=576,K=7168,device_name=X,dtype=fp8_w8a8,block_shape=[128, 128].json", true),
        ] {
            let name = MoeName::parse(path).unwrap();
            assert_eq!(name.base(blank), path);
            assert!(!blank || name.blank);
        }
        for path in [
            "E=8,N=1.json",
            "N=8,N=1,device_name=X.json",
            "E=8,K=1,device_name=X.json",
            "config.json",
            "E=a,N=2,device_name=X.json",
            "N=1,E=2,device_name=X.json",
        ] {
            assert_eq!(MoeName::parse(path), None, "{path}");
        }
        let name = MoeName::parse("a/triton_3_1_0/E=1,N=2,device_name=X.json").unwrap();
        assert_eq!(name.folder.as_deref(), Some("triton_3_1_0"));
    }
}
