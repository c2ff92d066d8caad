//! Matrix products with their sizes, and the share of the GPU's peak that their kernels reach.

use crate::kernels::Durations;
use crate::links::Links;
use arch::ElementType;
use sorting::Sort;
use std::collections::HashMap;
use trace::{GpuKind, HostKind, Name, Shapes, Timeline};

/// A matrix product as BLAS counts it, column by column.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Product {
    /// Operator: `aten::addmm`.
    pub operator: String,
    /// Rows of the result as BLAS has it: columns of PyTorch's.
    pub m: u64,
    /// Columns of the result as BLAS has it: rows of PyTorch's.
    pub n: u64,
    /// Inner size.
    pub k: u64,
    /// Matrices in a batch.
    pub batch: u64,
    /// Whether a vector is added to every row, which libraries do in the same kernel.
    pub bias: bool,
    /// PyTorch's name of the element type: `c10::BFloat16`.
    pub data_type: String,
    /// Whether each factor is transposed, as BLAS has them: `tn`.
    pub layout: String,
    /// Leading dimensions of both factors as BLAS has them, where the trace has strides.
    pub leading: Option<[u64; 2]>,
}

/// A product with the kernels that computed it.
#[derive(Clone, PartialEq, Debug)]
pub struct ProductSum {
    /// Sizes.
    pub product: Product,
    /// The kernel of most of its time.
    pub kernel: Name,
    /// Time of each call on the GPU.
    pub durations: Durations,
}

impl ProductSum {
    /// Operations of one call.
    pub fn operations(&self) -> f64 {
        let p = &self.product;
        2.0 * p.m as f64 * p.n as f64 * p.k as f64 * p.batch as f64
    }

    /// Rate over all calls, 10^12 operations per second.
    pub fn tera_ops(&self) -> Option<f64> {
        let ns = self.durations.total as f64;
        (ns > 0.0).then(|| self.operations() * self.durations.count as f64 / ns / 1e3)
    }

    /// The element type.
    pub fn element(&self) -> Option<ElementType> {
        ElementType::by_name(&self.product.data_type).filter(|it| ElementType::FACTORS.contains(it))
    }

    /// The line that asks TunableOp to tune it. `None` if type or strides are unknown, and for batches with a
    /// size of 1, which TunableOp does not tune.
    pub fn untuned_line(&self) -> Option<String> {
        let p = &self.product;
        let element = match self.element()? {
            ElementType::Bf16 => "BFloat16",
            ElementType::F16 => "Half",
            ElementType::F32 => "float",
            ElementType::F64 => "double",
            _ => return None,
        };
        let [lda, ldb] = p.leading?;
        let upper = p.layout.to_ascii_uppercase();
        if p.batch > 1 && (p.m == 1 || p.n == 1 || p.k == 1) {
            return None;
        }
        let (operation, batch) = match (p.batch, p.bias) {
            (1, true) => ("GemmAndBiasTunableOp", String::new()),
            (1, false) => ("GemmTunableOp", String::new()),
            (batch, _) => ("GemmStridedBatchedTunableOp", format!("_B_{batch}")),
        };
        Some(format!(
            "{operation}_{element}_{upper},{}_{}_{}_{}{batch}_ld_{lda}_{ldb}_{}",
            p.layout, p.m, p.n, p.k, p.m
        ))
    }
}

/// Products by size, most time first. Needs operators with shapes.
pub fn products(timeline: &Timeline, links: &Links) -> Vec<ProductSum> {
    let mut of_row: HashMap<usize, (i64, HashMap<Name, i64>)> = HashMap::new();
    for gpu in (0..timeline.gpu.len()).filter(|gpu| timeline.gpu.kind[*gpu] == GpuKind::Kernel) {
        let Some(row) = links.operator_of(gpu) else { continue };
        if timeline.host.kind[row] != HostKind::Operator || timeline.host.shapes[row] == 0 {
            continue;
        }
        let entry = of_row.entry(row).or_default();
        entry.0 += timeline.gpu.duration(gpu);
        *entry.1.entry(timeline.gpu.name[gpu]).or_default() += timeline.gpu.duration(gpu);
    }
    let mut sums: HashMap<Product, (Durations, HashMap<Name, i64>)> = HashMap::new();
    let mut rows: Vec<_> = of_row.into_iter().collect();
    rows.in_order_by_key(|(row, _)| *row);
    for (row, (ns, kernels)) in rows {
        let shapes = timeline.shapes[timeline.host.shapes[row] as usize - 1];
        let Some(product) = product(timeline, timeline.names.get(timeline.host.name[row]), &shapes) else {
            continue;
        };
        let sum = sums.entry(product).or_default();
        sum.0.add(ns);
        for (kernel, ns) in kernels {
            *sum.1.entry(kernel).or_default() += ns;
        }
    }
    let mut out: Vec<ProductSum> = sums
        .into_iter()
        .map(|(product, (durations, kernels))| {
            let kernel = kernels.into_iter().max_by_key(|(name, ns)| (*ns, *name));
            ProductSum { product, kernel: kernel.map_or(Name::NONE, |(name, _)| name), durations }
        })
        .collect();
    out.in_order_by(|a, b| {
        let key = |p: &ProductSum| (p.product.m, p.product.n, p.product.k);
        b.durations.total.cmp(&a.durations.total).then_with(|| key(a).cmp(&key(b)))
    });
    out
}

/// Position of the two factors among the operator's arguments.
fn factors(operator: &str) -> Option<(usize, usize)> {
    match operator {
        "aten::mm" | "aten::bmm" | "aten::_scaled_mm" | "aten::_int_mm" => Some((0, 1)),
        "aten::addmm" | "aten::baddbmm" | "aten::addmm_" | "aten::baddbmm_" | "aten::_addmm_activation" => {
            Some((1, 2))
        }
        _ => None,
    }
}

fn product(timeline: &Timeline, operator: &str, shapes: &Shapes) -> Option<Product> {
    let (first, second) = factors(operator)?;
    let dims = nested(timeline.names.get(shapes.dims));
    let strides = nested(timeline.names.get(shapes.strides));
    let types = texts(timeline.names.get(shapes.types));
    let (a, b) = (dims.get(first)?, dims.get(second)?);
    let [rows, inner] = *a.get(a.len().checked_sub(2)?..)? else { return None };
    let columns = *b.last()?;
    let batch = a[..a.len() - 2].iter().product::<u64>().max(1);
    // PyTorch's rows are BLAS's columns, so the factors change places: B is BLAS's first.
    let order = |at: usize, dims: &[u64]| -> Option<(char, u64)> {
        let strides: &Vec<u64> = strides.get(at)?;
        let [outer, unit] = *strides.get(strides.len().checked_sub(2)?..)? else { return None };
        let [r, c] = *dims.get(dims.len().checked_sub(2)?..)? else { return None };
        Some(if unit == 1 && (outer >= c || r == 1) {
            ('n', outer.max(c))
        } else if outer == 1 {
            ('t', unit.max(r))
        } else {
            ('n', outer.max(unit))
        })
    };
    let (fa, fb) = (order(second, b), order(first, a));
    let layout = [fa, fb].map(|it| it.map_or('?', |(order, _)| order)).iter().collect();
    let leading = match (fa, fb) {
        (Some((_, lda)), Some((_, ldb))) => Some([lda, ldb]),
        _ => None,
    };
    // The addend precedes the factors. PyTorch passes a vector to the library as the bias of its kernel.
    let added = first.checked_sub(1).and_then(|at| dims.get(at));
    Some(Product {
        operator: operator.to_owned(),
        m: columns,
        n: rows,
        k: inner,
        batch,
        bias: added.is_some_and(|it| it.as_slice() == [columns]) && inner > 1 && columns > 1,
        data_type: types.get(first).cloned().unwrap_or_default(),
        layout,
        leading,
    })
}

/// Lists of numbers within a JSON list; an element that is not a list of numbers gives an empty list.
fn nested(json: &str) -> Vec<Vec<u64>> {
    let mut out = Vec::new();
    let (mut depth, mut number) = (0, None::<u64>);
    for c in json.chars() {
        match c {
            '[' => {
                depth += 1;
                if depth == 2 {
                    out.push(Vec::new());
                }
            }
            ']' | ',' => {
                if let (Some(n), Some(last), true) = (number.take(), out.last_mut(), depth == 2) {
                    last.push(n);
                }
                depth -= i32::from(c == ']');
            }
            '0'..='9' => {
                let digit = u64::from(c) - u64::from('0');
                number = Some(number.unwrap_or(0).saturating_mul(10).saturating_add(digit));
            }
            _ => {}
        }
    }
    out
}

/// Strings of a JSON list.
fn texts(json: &str) -> Vec<String> {
    json.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        assert_eq!(nested("[[8, 128], [], [128]]"), [vec![8, 128], vec![], vec![128]]);
        assert_eq!(nested("[[[1, 2]], [3]]"), [vec![], vec![3]]);
        assert_eq!(nested("junk"), Vec::<Vec<u64>>::new());
        assert_eq!(texts(r#"["c10::BFloat16", "Scalar"]"#), ["c10::BFloat16", "Scalar"]);
    }

    #[test]
    fn products_as_blas_has_them() {
        let mut timeline = Timeline::new(trace::Format::Kineto);
        let mut shapes = |dims: &str, strides: &str| Shapes {
            dims: timeline.names.add(dims),
            types: timeline.names.add(r#"["float","float","float","Scalar","Scalar"]"#),
            strides: timeline.names.add(strides),
            values: Name::NONE,
        };
        // x [20, 30] times the transpose of a weight [40, 30].
        let linear = shapes("[[40], [20, 30], [30, 40], [], []]", "[[1], [30, 1], [1, 30], [], []]");
        let plain = shapes("[[20, 30], [30, 40]]", "[[30, 1], [40, 1]]");
        let batched = shapes("[[96, 128, 64], [96, 64, 128]]", "[[8192, 64, 1], [8192, 1, 64]]");
        let linear = product(&timeline, "aten::addmm", &linear).unwrap();
        assert_eq!((linear.m, linear.n, linear.k, linear.layout.as_str()), (40, 20, 30, "tn"));
        assert_eq!(linear.leading, Some([30, 30]));
        let line = |product: &Product| {
            ProductSum { product: product.clone(), kernel: Name::NONE, durations: Durations::default() }
                .untuned_line()
        };
        assert_eq!(line(&linear).unwrap(), "GemmAndBiasTunableOp_float_TN,tn_40_20_30_ld_30_30_40");
        let batched = product(&timeline, "aten::bmm", &batched).unwrap();
        let wanted = "GemmStridedBatchedTunableOp_float_TN,tn_128_128_64_B_96_ld_64_64_128";
        assert_eq!(line(&batched).unwrap(), wanted);
        assert_eq!(line(&Product { m: 1, ..batched }), None);
        let plain = product(&timeline, "aten::mm", &plain).unwrap();
        assert_eq!((plain.m, plain.n, plain.k, plain.layout.as_str()), (40, 20, 30, "nn"));
        assert_eq!(plain.leading, Some([40, 30]));
        assert_eq!(line(&plain).unwrap(), "GemmTunableOp_float_NN,nn_40_20_30_ld_40_30_40");
    }
}
