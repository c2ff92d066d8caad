//! MEM002: stores that could move 16 bytes per lane and move fewer.
//!
//! The proofs are the same as in MEM001; outside loops only adjacent stores count.

use crate::access::{self, WIDEST};
use crate::gain::Executed;
use crate::narrow::{Kind, Narrow};
use crate::{Check, Outcome, Rule, narrow};
use analysis::KernelEvidence;
use isa::Access;
use view::{Finding, Severity};

pub(crate) const RULE: Rule = Rule {
    id: "MEM002",
    title: "stores narrower than 16 bytes per lane",
    severity: Severity::Warning,
    page: PAGE,
    checks: &[Check::Code(check)],
    panels: &[16, 17],
};

const PAGE: &str = r"## What it does
Fires on global, flat or buffer stores that move fewer than 16 bytes per lane although their addresses show that 16-byte
stores (`global_store_dwordx4`) can replace them. One of three things is proved for every store it names:

* several stores of one block touch adjacent bytes of the same lane, so one wider store writes them together; outside
  loops at least three stores must be saved;
* in a loop, neighbouring lanes write neighbouring elements, so a lane can take several consecutive elements itself;
* in a loop, each lane writes the next element in the next iteration, so one store can serve several iterations.

Stores of 8 bytes and more are named only for the first reason. Scatters, and volatile, atomic or coherent stores are
never counted.

## Why it is slow
The path from a compute unit to the L2 takes one store request at a time. Stores of 4 bytes send four times as many
requests as 16-byte stores for the same data, and bytes and halves that fill only part of a request cost as much as
full ones.

## Evidence
The width of each store, and its address worked out symbolically: its distance to the others of the block, the step from
lane to lane, and the step from iteration to iteration. Sums of 32 bits are taken not to wrap
between neighbours. The finding is a warning where stores of one or two bytes are
concerned or where merging saves at least two stores, and the stores saved are a twentieth of what the busiest of vector units,
memory path and LDS does for the kernel, loops taken to run 16 times; otherwise it is for information: stores that run once
beside a loop of work are, stores of all lanes to one address, and those of a loop that does what another, unrolled, leaves over.

## What to do
Collect 16 contiguous bytes per lane in registers and store them with one vector store (`float4`, eight halves). Where
neighbouring lanes hold the pieces, exchange them first (LDS, DPP). Loads between the stores that may alias keep the
compiler from merging: declare the pointers `__restrict__`.

## Source
The IREE AMDGPU guide: `global_store_dwordx4` for peak bandwidth, contiguous over the wave; the ROCm Triton kernel guide on the store width of GEMM
epilogues.
";

/// Stores that merging must save outside loops.
const SAVED_OUTSIDE: u32 = 3;

fn check(evidence: &KernelEvidence<'_>) -> Outcome {
    let found = narrow::find(evidence, Access::Store);
    if found.is_empty() {
        return Outcome::Silent;
    }
    let executed = Executed::of(evidence);
    Outcome::from_findings(found.iter().filter_map(|narrow| finding(evidence, &executed, narrow)).collect())
}

fn finding(evidence: &KernelEvidence<'_>, executed: &Executed<'_>, narrow: &Narrow) -> Option<Finding> {
    let saved = narrow.saved();
    if narrow.in_loop.is_none() && saved < SAVED_OUTSIDE {
        return None;
    }
    let count = narrow.accesses.len();
    let smallest = narrow.accesses.iter().map(|(_, bytes, _)| *bytes).min()?;
    let many = smallest <= 2 || saved >= 2;
    let severity = if many { super::mem001::severity(evidence, executed, narrow) } else { Severity::Info };
    let per = if narrow.in_loop.is_some() { "per iteration" } else { "outside loops" };
    let advice = match narrow.accesses.first()?.2 {
        Kind::Merge if narrow.interrupted => {
            "store the adjacent elements with one vector store; the compiler cannot rule out that the loads between them alias: declare the pointers `__restrict__`"
        }
        Kind::Merge => {
            "store the adjacent elements with one vector store (`float4`, `uint4`); make the alignment known"
        }
        Kind::Lanes => {
            "let each lane write 16 contiguous bytes per iteration (`float4`, a larger size per thread)"
        }
        Kind::Iterations => {
            "collect 16 bytes over several iterations and store them at once: unroll by the vector width"
        }
    };
    Some(
        RULE.finding(
            severity,
            format!(
                "{count} of {} stores {per} move fewer than {WIDEST} bytes per lane and can move more",
                narrow.all
            ),
            advice,
        )
        .with_cost(format!(
            "{} {per} where 16-byte stores would need {}",
            view::counted(count, "store"),
            narrow.needed_text()
        ))
        .with_evidence("narrow stores", access::widths(&narrow.widths()))
        .with_evidence("proved", narrow.proof())
        .with_places(access::places(evidence, narrow.accesses.iter().map(|(inst, ..)| *inst))),
    )
}
