//! Forms of tables, detected from their header line.
//!
//! Users rename files and profilers name them by an option, so a name proves nothing; the columns determine
//! the form.

use crate::headers::{describes_dispatch, is_bookkeeping, is_counter, is_derived, is_instance_or_sum, plain};
use crate::table;

/// Meaning of a row of a table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// A counter of a dispatch.
    Long,
    /// A counter of a dispatch that another file describes.
    LongAlone,
    /// A dispatch with its counters.
    Wide,
    /// A dispatch with times or sizes.
    Dispatches,
}

/// Columns that say of a row that it is one dispatch, and not a sum over many.
const OF_A_DISPATCH: [&str; 6] =
    ["Dispatch_ID", "GPU_ID", "Grid_Size", "Workgroup_Size", "Start_Timestamp", "LDS_Per_Workgroup"];

/// Columns that give times or sizes.
const TIMES_AND_SIZES: [&str; 4] = ["Start_Timestamp", "Grid_Size", "Grid_Size_X", "Workgroup_Size"];

impl Form {
    /// Detects the form from the beginning of a file, which must include the header line.
    pub(crate) fn of(bytes: &[u8]) -> Option<Form> {
        // Other files, which may be large, mostly show it at once.
        let head = &bytes[..bytes.len().min(64)];
        if head.contains(&0) || head.trim_ascii_start().starts_with(b"{") {
            return None;
        }
        let (counters, others): (Vec<String>, Vec<String>) =
            table::header(bytes)?.into_iter().partition(|name| is_instance_or_sum(name));
        let names: Vec<String> = others.iter().map(|name| plain(name)).collect();
        let has = |name: &str| names.iter().any(|it| it == name);
        let kernel = has("Kernel_Name");
        if has("Counter_Name") && has("Counter_Value") {
            return Some(if kernel { Form::Long } else { Form::LongAlone });
        }
        if !kernel {
            return None;
        }
        let of_a_dispatch = OF_A_DISPATCH.iter().any(|name| has(name));
        let counts = |name: &String| {
            let described = describes_dispatch(name) || is_bookkeeping(name);
            !described && (is_counter(name) || of_a_dispatch && is_derived(name))
        };
        // A trace of kernels has sizes by dimension, which a table with counters has not.
        if !has("Grid_Size_X") && (!counters.is_empty() || names.iter().any(counts)) {
            return Some(Form::Wide);
        }
        TIMES_AND_SIZES.iter().any(|name| has(name)).then_some(Form::Dispatches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_says_what_a_row_is() {
        for (header, want) in [
            ("Dispatch_ID,Kernel_Name,Counter_Name,Counter_Value", Some(Form::Long)),
            ("\u{feff}\"Kernel_Name\";\"Counter_Name\";\"Counter_Value\"\r\n", Some(Form::Long)),
            ("Counter_Value,Kernel_Name,\"Counter_Name\"\na,b,c\n", Some(Form::Long)),
            ("dispatch_id,counter_name,counter_value", Some(Form::LongAlone)),
            ("Index,KernelName,gpu-id,grd,wgr,Wavefronts,VALUBusy,BeginNs,EndNs", Some(Form::Wide)),
            ("Kernel_Name\tSQ_WAVES\n", Some(Form::Wide)),
            ("Dispatch_ID,Kernel_Name,Grid_Size,TCC_HIT[0]", Some(Form::Wide)),
            (
                "Index,KernelName,gpu-id,queue-id,grd,wgr,sig,obj,DispatchNs,BeginNs,EndNs,CompleteNs",
                Some(Form::Dispatches),
            ),
            (
                "Kind,Agent_Id,Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Grid_Size_X",
                Some(Form::Dispatches),
            ),
            ("Kernel_Name,Counter_Name", None),
            // Sums over kernels, tunings, other tables.
            ("Kernel_Name,Count,Sum(ns),Mean(ns),Median(ns),Pct", None),
            ("Dispatch_ID,Kernel_Name,GPU_ID", None),
            ("\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"", None),
            ("gfx,cu_num,M,N,K,bias,us,kernelName,err_ratio,tflops", None),
            ("Sample_Timestamp,Exec_Mask,Dispatch_Id,Instruction", None),
            ("workload_name,command,gpu_arch", None),
            ("{\"Kernel_Name\": 1, \"SQ_WAVES\": 2}", None),
            ("\"Kernel_Name,SQ_WAVES", None),
            ("", None),
        ] {
            assert_eq!(Form::of(header.as_bytes()), want, "{header}");
        }
    }
}
