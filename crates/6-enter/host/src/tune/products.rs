//! Products of matrices on an emulated GPU, by a kernel of Triton of our own.

use super::evaluate::Evaluator;
use super::evaluation::Evaluation;
use super::spec::Spec;
use crate::run::Place;
use anyhow::{Context, Result, bail};
use arch::{ElementType, Model, Unit};
use gemm::ProductLaunch;
use sorting::Sort;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tempfile::TempDir;
use tune::Value;

/// The kernel.
const SCRIPT: &str = include_str!("../../python/triton_products.py");
/// Its name in the folder.
const FILE: &str = "triton_products.py";

/// Parts of the depth that workgroups share, which the kernel has not.
const SPLITS: &str = "SPLIT_K";

/// Times of a product, microseconds, one for each depth, or why it has none.
pub type Times = Result<Vec<f64>, String>;

/// A clock for products.
#[derive(Debug)]
pub struct Products {
    gpu: String,
    model: &'static Model,
    python: String,
    /// The program that runs a job.
    command: PathBuf,
    folder: TempDir,
    stop: Arc<AtomicBool>,
}

impl Products {
    /// Writes the kernel, and refuses a Python that has no Triton.
    ///
    /// # Errors
    /// If there is no such Python, or no temporary folder.
    pub fn new(gpu: &str, python: &str, command: PathBuf, stop: Arc<AtomicBool>) -> Result<Products> {
        let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
        let path = folder.path().join(FILE);
        std::fs::write(&path, SCRIPT).with_context(|| format!("cannot write `{}`", path.display()))?;
        let model = crate::run::model(gpu)?;
        let out = Products { gpu: gpu.to_owned(), model, python: python.to_owned(), command, folder, stop };
        let sizes = ["BLOCK_SIZE_M", "BLOCK_SIZE_N", "BLOCK_SIZE_K", "GROUP_SIZE_M", "num_warps"];
        let any = ProductLaunch {
            element: ElementType::Bf16,
            experts: 1,
            rows: 16,
            n: 16,
            depths: vec![16],
            stride: 16,
            scale_block: [0, 0],
            parameters: sizes.iter().map(|it| ((*it).to_owned(), 16)).collect(),
        };
        out.evaluator(&any)?.check_triton()?;
        Ok(out)
    }

    fn evaluator(&self, product: &ProductLaunch) -> Result<Evaluator> {
        let dtype = dtype(self.model, product.element)?;
        let spec = Spec::of(&space(product, &self.python, dtype), "product", self.folder.path())?;
        let evaluator =
            Evaluator::unchecked(spec, Place::Emulator, Some(self.gpu.clone()), self.command.clone())?;
        Ok(evaluator.stopping(self.stop.clone()))
    }

    /// Modelled times of each product, microseconds: one for each depth.
    pub fn times_us(&self, products: &[ProductLaunch]) -> Vec<Times> {
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<(usize, Times)>> = Mutex::default();
        std::thread::scope(|scope| {
            for _ in 0..workers.min(products.len()) {
                scope.spawn(|| {
                    while let Some((at, product)) = Some(next.fetch_add(1, Ordering::Relaxed))
                        .and_then(|at| Some((at, products.get(at)?)))
                    {
                        let times = self.timed(product);
                        done.lock().unwrap_or_else(PoisonError::into_inner).push((at, times));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.in_order_by_key(|it| it.0);
        done.into_iter().map(|it| it.1).collect()
    }

    fn timed(&self, product: &ProductLaunch) -> Times {
        if product.parameters.iter().any(|(name, it)| name == SPLITS && *it != 1) {
            return Err("the kernel does not split the depth".to_owned());
        }
        let evaluator = self.evaluator(product).map_err(|error| format!("{error:#}"))?;
        let values: Vec<(&str, Value)> =
            settings(product).map(|(name, it)| (name.as_str(), Value::Int(*it))).collect();
        let configuration: Vec<(&str, &Value)> = values.iter().map(|(name, it)| (*name, it)).collect();
        let Evaluation { shapes_us, failed, .. } = evaluator.run_one(&configuration);
        match failed {
            Some(failed) => Err(format!("{}: {}", failed.kind.words(), failed.why)),
            None => Ok(shapes_us),
        }
    }
}

/// Triton's name of a type of factors on a GPU.
fn dtype(model: &Model, element: ElementType) -> Result<&'static str> {
    Ok(match element {
        ElementType::Bf16 => "bf16",
        ElementType::F16 => "f16",
        ElementType::I8 => "i8",
        // GPUs with matrix instructions for 4 bits have the types of OCP, older ones others.
        ElementType::F8 if model.target().peak(Unit::Matrix, ElementType::F4).is_some() => "fp8e4nv",
        ElementType::F8 => "fp8e4b8",
        other => bail!("the kernel multiplies no factors of type {}", other.name()),
    })
}

/// Parameters that the kernel has.
fn settings(product: &ProductLaunch) -> impl Iterator<Item = &(String, i64)> {
    product.parameters.iter().filter(|it| it.0 != SPLITS)
}

/// The space file of this one configuration.
fn space(product: &ProductLaunch, python: &str, dtype: &str) -> String {
    let mut out = String::from("[parameters]\n");
    for (name, value) in settings(product) {
        let _ = writeln!(out, "{name} = {value}");
    }
    let (blocks, columns) = ("experts * -(-rows // BLOCK_SIZE_M)", "-(-N // BLOCK_SIZE_N)");
    let _ = writeln!(
        out,
        "[run.triton]\npython = {python:?}\nfile = {FILE:?}\nkernel = \"product\"\ngrid = [\"{blocks} * {columns}\"]"
    );
    let deep = "-(-K // max(SCALE_K, 1))";
    for (name, dtype, shape) in [
        ("a", dtype, "\"experts * rows\", \"stride\"".to_owned()),
        ("b", dtype, "\"experts * N\", \"stride\"".to_owned()),
        ("c", "bf16", "\"experts * rows\", \"N\"".to_owned()),
        ("a_scales", "f32", format!("\"experts * rows\", \"{deep}\"")),
        ("b_scales", "f32", format!("\"experts * -(-N // max(SCALE_N, 1))\", \"{deep}\"")),
    ] {
        let _ = writeln!(out, "[[argument]]\nname = {name:?}\ntype = {dtype:?}\nshape = [{shape}]");
    }
    for (name, value) in [("blocks", blocks), ("columns", columns)] {
        let _ = writeln!(out, "[[argument]]\nname = {name:?}\nvalue = {value:?}");
    }
    let whole = product.element.is_integer();
    let [scale_n, scale_k] = product.scale_block;
    for k in &product.depths {
        let _ = writeln!(
            out,
            "[[shapes]]\nexperts = {}\nrows = {}\nN = {}\nK = {k}\nstride = {}\nSCALE_N = {scale_n}\nSCALE_K = {scale_k}\nWHOLE = {whole}",
            product.experts, product.rows, product.n, product.stride
        );
    }
    out
}
