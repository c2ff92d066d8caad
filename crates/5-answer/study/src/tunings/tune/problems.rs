//! Problems of lists, grouped by the tuned file that a project looks them up in.

use super::modelled::Types;
use super::{Operation, ShapesQuestion, TuneFor};
use crate::tunings::shapes::{Experts, OfAiter, Product, collect};
use arch::{ElementType, Model};
use sorting::Sort;
use std::collections::BTreeMap;
use tunedb::moe::MoeName;

/// Rows that vLLM's and SGLang's benchmarks tune, for problems whose list names none.
pub(super) const LADDER: [u64; 18] =
    [1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 1536, 2048, 3072, 4096];

/// Problems that share a tuned file.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Group {
    /// The name of the file.
    pub(super) name: MoeName,
    /// Types.
    pub(super) types: Types,
    /// Length of the sums of a product; width of the model of a mixture of experts.
    pub(super) k: u64,
    /// Experts of a token; 1 for products.
    pub(super) top_k: u64,
    /// Rows of the first matrix, or tokens, rising.
    pub(super) rows: Vec<u64>,
}

/// Groups, and problems that are in none, by the reason.
#[derive(Default)]
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    pub(super) left: BTreeMap<String, u64>,
    /// Some products name no types.
    pub(super) assumed: bool,
}

impl Groups {
    fn add(&mut self, group: Group) {
        let same_file = self.groups.iter_mut().find(|it| it.name == group.name);
        match same_file {
            Some(it) if (it.k, it.top_k) == (group.k, group.top_k) => {
                it.rows.extend(group.rows);
                it.rows.in_order();
                it.rows.dedup();
            }
            Some(it) => {
                let why = format!(
                    "the file `{}` already serves width {} with {} experts per token: tune one of them",
                    it.name.base(it.name.blank),
                    it.k,
                    it.top_k
                );
                self.leave(why);
            }
            None => self.groups.push(group),
        }
    }

    fn leave(&mut self, why: impl Into<String>) {
        *self.left.entry(why.into()).or_default() += 1;
    }
}

/// The groups of a question for vLLM or SGLang.
pub(super) fn groups(question: &ShapesQuestion<'_>, model: &Model) -> Groups {
    let found = collect(question.lists);
    let mut out = Groups::default();
    let of = Namer { question, device: question.device.map_or_else(|| device(model), str::to_owned) };
    match question.operation {
        Operation::Gemm => {
            for (it, _) in &found.products {
                match of.product(it, &mut out.assumed) {
                    Ok(group) => out.add(group),
                    Err(why) => out.leave(why),
                }
            }
            for (_, config) in question.models {
                let products = config.products(question.tp);
                if products.is_empty() {
                    out.leave("a model with latent attention: list its products from a log");
                }
                for [n, k] in products {
                    match of.sizes([n, k], config.dtype, config.block, question.rows()) {
                        Ok(group) => out.add(group),
                        Err(why) => out.leave(why),
                    }
                }
            }
        }
        Operation::Moe => {
            found.products.iter().for_each(|_| out.leave("a matrix product: `tune gemm`"));
            for (_, config) in question.models {
                match of.config(config) {
                    Ok(group) => out.add(group),
                    Err(why) => out.leave(why),
                }
            }
        }
    }
    for (it, _) in &found.experts {
        let group = match it {
            Experts::Aiter(it) if question.operation == Operation::Moe => of.aiter(it),
            Experts::Aiter(_) => Err("a mixture of experts: `tune moe`".to_owned()),
            Experts::File(path) => of.file(path),
        };
        match group {
            Ok(group) => out.add(group),
            Err(why) => out.leave(why),
        }
    }
    for (why, rows) in found.left_out() {
        *out.left.entry(why.to_owned()).or_default() += rows;
    }
    out
}

/// The name by which a GPU calls itself, `_` for blanks.
fn device(model: &Model) -> String {
    format!("AMD {}", model.name).replace(' ', "_")
}

/// Makes names of tuned files.
struct Namer<'q> {
    question: &'q ShapesQuestion<'q>,
    device: String,
}

impl Namer<'_> {
    fn blank(&self) -> bool {
        self.question.target == TuneFor::Sglang
    }

    /// A product of a list.
    fn product(&self, product: &Product, assumed: &mut bool) -> Result<Group, String> {
        const BLOCKS_ONLY: &str = "vLLM and SGLang keep files for 8-bit products with scales by block only";
        // In the order of PyTorch.
        let [n, m, k, batch] = product.sizes;
        if batch != 1 {
            return Err("several products in one call".to_owned());
        }
        // A table of `M,N,K` alone may be anyone's.
        let family = product.aiter.as_ref().map(|it| it.family.as_str()).filter(|it| *it != "gemm");
        if family.is_some_and(|it| !it.contains("blockscale")) {
            return Err(BLOCKS_ONLY.to_owned());
        }
        let dtype = match product.types.as_deref().map(tunedb::element) {
            Some(Some(ElementType::F8)) => Some("fp8_w8a8"),
            Some(Some(ElementType::I8)) => Some("int8_w8a8"),
            Some(_) => return Err(BLOCKS_ONLY.to_owned()),
            None if family.is_some() => Some("fp8_w8a8"),
            None => {
                *assumed |= self.question.dtype.is_none();
                None
            }
        };
        self.sizes([n, k], dtype, None, vec![m])
    }

    fn sizes(
        &self,
        [n, k]: [u64; 2],
        dtype: Option<&str>,
        block: Option<[u64; 2]>,
        rows: Vec<u64>,
    ) -> Result<Group, String> {
        let dtype = dtype.or(self.question.dtype).unwrap_or("fp8_w8a8");
        let block = self.question.block.or(block).unwrap_or([128, 128]);
        let name = MoeName {
            n,
            k: Some(k),
            device: self.device.clone(),
            dtype: Some(dtype.to_owned()),
            block: Some(block),
            blank: self.blank(),
            ..MoeName::default()
        };
        Ok(Group { types: types(Some(dtype), true)?, name, k, top_k: 1, rows })
    }

    /// A mixture of experts of a model.
    fn config(&self, config: &super::ModelConfig) -> Result<Group, String> {
        let sizes = config.experts.zip(config.expert_inter).zip(config.top_k);
        let ((experts, inter), top_k) = sizes.ok_or("the model has no experts")?;
        let dtype = self.question.dtype.or(config.dtype);
        let block = self.question.block.or(config.block);
        let inter = inter / self.question.tp;
        self.experts([experts, inter, config.hidden, top_k], dtype, block, self.question.rows())
    }

    fn experts(
        &self,
        [experts, inter, hidden, top_k]: [u64; 4],
        dtype: Option<&str>,
        block: Option<[u64; 2]>,
        rows: Vec<u64>,
    ) -> Result<Group, String> {
        if [experts, inter, hidden, top_k].contains(&0) || top_k > experts {
            return Err("impossible sizes of a mixture of experts".to_owned());
        }
        // Names of files with weights of 16 bits have no word for the types.
        let is_plain = Types::of(dtype, false).is_some_and(|it| it.weight_bits == 16);
        let block = block.filter(|_| !is_plain);
        let name = MoeName {
            experts,
            n: inter,
            device: self.device.clone(),
            dtype: dtype.filter(|_| !is_plain).map(str::to_owned),
            block,
            blank: self.blank(),
            ..MoeName::default()
        };
        Ok(Group { types: types(dtype, block.is_some())?, name, k: hidden, top_k, rows })
    }

    /// Key columns of AITER's table.
    fn aiter(&self, it: &OfAiter) -> Result<Group, String> {
        let size = |name: &str| it.value(name).and_then(|it| it.parse::<u64>().ok());
        let sizes = (size("expert"), size("inter_dim"), size("model_dim"), size("topk"), size("token"));
        let (Some(experts), Some(inter), Some(hidden), Some(top_k), Some(tokens)) = sizes else {
            return Err("the list lacks sizes of the mixture of experts".to_owned());
        };
        let scales = it.value("q_type").unwrap_or_default();
        let block = match scales.rsplit('.').next().unwrap_or_default() {
            "per_1x128" | "per_128x128" => Some([128, 128]),
            "per_1x32" => return Err("MX types, for which vLLM and SGLang keep no file".to_owned()),
            _ => None,
        };
        let weights = it.value("q_dtype_w").and_then(tunedb::element);
        let activations = it.value("q_dtype_a").and_then(tunedb::element);
        let dtype = match (activations, weights) {
            (Some(ElementType::F8), Some(ElementType::F8)) => Some("fp8_w8a8"),
            (Some(ElementType::I8), Some(ElementType::I8)) => Some("int8_w8a8"),
            (_, Some(ElementType::F8)) => Some("fp8_w8a16"),
            (_, Some(ElementType::I8)) => Some("int8_w8a16"),
            (_, Some(ElementType::Bf16 | ElementType::F16) | None) => self.question.dtype,
            _ => return Err("types for which vLLM and SGLang keep no file".to_owned()),
        };
        self.experts([experts, inter, hidden, top_k], dtype, block, vec![tokens])
    }

    /// A file that a server looked for.
    fn file(&self, path: &str) -> Result<Group, String> {
        let name = MoeName::parse(path).ok_or("the name of the file is incomplete")?;
        let is_product = name.k.is_some();
        if is_product != (self.question.operation == Operation::Gemm) {
            let (what, other) = if is_product { ("products", "gemm") } else { ("experts", "moe") };
            return Err(format!("a file for {what}: `tune {other}`"));
        }
        let mut name = MoeName { down: false, folder: None, blank: self.blank(), ..name };
        if let Some(device) = self.question.device {
            name.device = device.to_owned();
        }
        let types = types(name.dtype.as_deref(), name.block.is_some())?;
        let (k, top_k) = match name.k {
            Some(k) => (k, 1),
            None => self.width(&name).ok_or(
                "the name of a file has no width of the model: name the model's config.json too, or --model-dim and --top-k",
            )?,
        };
        Ok(Group { name, types, k, top_k, rows: self.question.rows() })
    }

    /// Width of the model and experts of a token, which names of files lack.
    fn width(&self, name: &MoeName) -> Option<(u64, u64)> {
        let fits = self.question.models.iter().find(|(_, it)| {
            let inter = it.expert_inter.unwrap_or(0);
            // With shared experts the server has one or two more; expert parallelism has a part of them.
            let experts = it.experts.unwrap_or(0);
            (experts..=experts + 2).contains(&name.experts) && name.n > 0 && inter % name.n == 0
                || experts > 0 && experts % name.experts.max(1) == 0 && inter == name.n
        });
        let of_model = fits.and_then(|(_, it)| Some((it.hidden, it.top_k?)));
        of_model.or(self.question.model_dim.zip(self.question.top_k))
    }
}

fn types(dtype: Option<&str>, in_blocks: bool) -> Result<Types, String> {
    Types::of(dtype, in_blocks)
        .ok_or_else(|| format!("the model has no times for types `{}`", dtype.unwrap_or_default()))
}
