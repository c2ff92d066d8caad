//! Rules on timelines: for each a small timeline on which it fires, and one on which it only just does not.

use rockhound_rules::{TraceEvidence, check_traces};
use timeline::TimelineEvidence;
use trace::{
    Collective, Detail, Device, Format, GpuKind, GpuSpan, HostKind, HostSpan, Queue, Shapes, Thread, Timeline,
};
use view::{Finding, NotChecked};

/// A timeline that is built span by span; launches take 1 us.
pub(crate) struct Made {
    pub(crate) timeline: Timeline,
    next: u64,
}

impl Made {
    pub(crate) fn new() -> Made {
        let mut timeline = Timeline::new(Format::Kineto);
        let name = timeline.names.add("1");
        timeline.threads.push(Thread { process: name, thread: name, name });
        timeline.devices.push(Device {
            name: "AMD Instinct MI300X".to_owned(),
            compute_units: 304,
            ..Device::default()
        });
        Made { timeline, next: 1 }
    }

    /// A span on the host, from and to in us, with its correlation, external id and shapes.
    pub(crate) fn host(
        &mut self,
        kind: HostKind,
        name: &str,
        (from, to): (i64, i64),
        ids: [u64; 2],
        shapes: u32,
    ) {
        let name = self.timeline.names.add(name);
        let (start, end, [correlation, external]) = (from * 1000, to * 1000, ids);
        self.timeline.host.push(HostSpan {
            start,
            end,
            name,
            kind,
            thread: 0,
            correlation,
            external,
            shapes,
        });
    }

    /// A kernel on a GPU and stream, from and to in us, launched at a time.
    pub(crate) fn kernel(
        &mut self,
        name: &str,
        (device, stream): (u64, u64),
        from: i64,
        to: i64,
        launched: i64,
    ) -> &mut Made {
        let correlation = self.next;
        self.next += 1;
        self.host(HostKind::Runtime, "hipLaunchKernel", (launched, launched + 1), [correlation; 2], 0);
        self.on_gpu(name, (device, stream), (from, to), correlation);
        self
    }

    /// A kernel of a launch that is there already.
    pub(crate) fn on_gpu(
        &mut self,
        name: &str,
        (device, stream): (u64, u64),
        (from, to): (i64, i64),
        correlation: u64,
    ) {
        let name = self.timeline.names.add(name);
        let queue = self.timeline.queue(Queue { device, stream });
        self.timeline.gpu.push(GpuSpan {
            start: from * 1000,
            end: to * 1000,
            name,
            kind: GpuKind::Kernel,
            queue,
            correlation,
            external: correlation,
            grid: [1, 1, 1],
            block: [256, 1, 1],
            detail: 0,
        });
    }

    /// Gives the last kernel an operator with shapes.
    pub(crate) fn operator(&mut self, name: &str, dims: &str, strides: &str) {
        let id = self.next - 1;
        let names = &mut self.timeline.names;
        let shapes = Shapes {
            dims: names.add(dims),
            strides: names.add(strides),
            types: names.add(r#"["c10::BFloat16","c10::BFloat16"]"#),
            ..Shapes::default()
        };
        self.timeline.shapes.push(shapes);
        let shapes = self.timeline.shapes.len() as u32;
        self.host(HostKind::Operator, name, (0, 1), [0, id], shapes);
    }

    pub(crate) fn collective(&mut self, ranks: u64) {
        let names = &mut self.timeline.names;
        let (operation, data_type) = (names.add("allreduce"), names.add("BFloat16"));
        let collective = Collective {
            operation,
            elements_in: 1 << 20,
            elements_out: 1 << 20,
            data_type,
            group_size: ranks,
            ..Collective::default()
        };
        let detail = self.timeline.add_detail(Detail { collective: Some(collective), ..Detail::default() });
        *self.timeline.gpu.detail.last_mut().unwrap() = detail;
    }
}

fn fired(timelines: &[Timeline]) -> Vec<&'static str> {
    judged(timelines).0.iter().map(|f| f.rule).collect()
}

/// Findings, and rules whose evidence is absent.
pub(crate) fn judged(timelines: &[Timeline]) -> (Vec<Finding>, Vec<NotChecked>) {
    let evidence: Vec<TimelineEvidence<'_>> = timelines.iter().map(TimelineEvidence::gather).collect();
    let names = (0..timelines.len()).map(|at| format!("rank {at}")).collect();
    let (findings, not_checked) = check_traces(&TraceEvidence::new(&evidence, names));
    crate::words::are_well_said(&findings);
    (findings, not_checked)
}

fn one(build: impl FnOnce(&mut Made)) -> Vec<&'static str> {
    let mut made = Made::new();
    build(&mut made);
    fired(&[made.timeline])
}

pub(crate) const GEMM: &str = "Cijk_Alik_Bljk_BBS";
pub(crate) const NCCL: &str = "ncclDevKernel_Generic";

#[test]
fn launches_that_come_late() {
    // A kernel of 80 us every 100 us, launched 10 us after the one before ended, or long before.
    let every = |late: bool| {
        one(|m| {
            for at in 0..40 {
                let launched = if late { at * 100 - 10 } else { -1000 + at };
                m.kernel(GEMM, (0, 0), at * 100, at * 100 + 80, launched);
            }
        })
    };
    assert_eq!(every(true), ["TRC001"]);
    assert!(!every(false).contains(&"TRC001"), "queued long before");
}

#[test]
fn waits_that_leave_the_gpu_idle() {
    let with = |call: &str| {
        one(|m| {
            for at in 0..20 {
                m.kernel(GEMM, (0, 0), at * 100, at * 100 + 90, at * 100 - 4);
                m.host(HostKind::Runtime, call, (at * 100 + 10, at * 100 + 92), [0, 0], 0);
            }
        })
    };
    assert_eq!(with("hipStreamSynchronize"), ["TRC002"]);
    assert!(!with("hipGetDevice").contains(&"TRC002"));
}

#[test]
fn short_kernels_that_could_be_one() {
    let of = |name: &str| {
        one(|m| {
            for at in 0..20 {
                m.kernel(name, (0, 0), at * 10, at * 10 + 10, -1000);
            }
        })
    };
    assert_eq!(of("vectorized_elementwise_kernel"), ["TRC003"]);
    assert!(of("triton_poi_fused_add_0").is_empty(), "fused already");
}

#[test]
fn communication_that_runs_alone() {
    let with = |beside: bool| {
        one(|m| {
            m.kernel(GEMM, (0, 0), 0, 100, -10);
            m.kernel(NCCL, (0, 4), 100, 200, -9).collective(8);
            if beside {
                m.kernel(GEMM, (0, 0), 100, 200, -8);
            }
        })
    };
    assert_eq!(with(false), ["TRC004"]);
    assert!(with(true).is_empty());
}

#[test]
fn a_rank_that_comes_late() {
    let rank = |wait: i64| {
        let mut made = Made::new();
        for at in 0..10 {
            let end = at * 1000 + 900;
            made.kernel(GEMM, (0, 0), at * 1000, end - wait, -10);
            made.kernel(NCCL, (0, 0), end - wait, end, -9).collective(8);
        }
        made.timeline
    };
    assert!(fired(&[rank(300), rank(40), rank(300)]).contains(&"TRC005"));
    assert!(!fired(&[rank(40), rank(40)]).contains(&"TRC005"));
}

#[test]
fn products_below_the_peak() {
    // 8192 cubed: 1.1 Tflop, at the peak of 1307 Tflop/s 841 us.
    let of = |us: i64| {
        one(|m| {
            m.kernel(GEMM, (0, 0), 0, us, -10);
            m.operator("aten::mm", "[[8192, 8192], [8192, 8192]]", "[[8192, 1], [8192, 1]]");
        })
    };
    assert_eq!(of(5_000), ["TRC006"]);
    assert!(of(1_200).is_empty());
}

#[test]
fn products_below_their_tuning() {
    let of = |us: i64| {
        let mut made = Made::new();
        made.kernel(GEMM, (0, 0), 0, us, -10);
        made.operator("aten::mm", "[[16, 512], [512, 4096]]", "[[512, 1], [1, 512]]");
        made.timeline
    };
    let row = |ms: f64| {
        format!(
            "Validator,PT_VERSION,2.9.1\nGemmTunableOp_{}_TN,tn_4096_16_512_ld_512_512_4096,Gemm_Rocblas_1,{ms}\n",
            "BFloat16"
        )
    };
    let aiter = "gfx,cu_num,M,N,K,bias,dtype,outdtype,scaleAB,bpreshuffle,libtype,solidx,splitK,us,kernelName,err_ratio,tflops,bw\n\
        gfx942,304,16,4096,512,False,torch.bfloat16,torch.bfloat16,False,False,hipblaslt,1,0,50.0,k,0,0,0\n";
    for (us, file, fires) in [
        (100, row(0.05), true),
        (55, row(0.05), false),
        (100, aiter.to_owned(), true),
        (100, row(0.0), false),
        (100, row(0.05).replace("TN,tn", "NN,nn"), false),
    ] {
        let timeline = of(us);
        let evidence = [TimelineEvidence::gather(&timeline)];
        let files = [tunedb::read("bf16_tuned_gemm.csv", file.as_bytes()).unwrap()];
        let run = TraceEvidence::new(&evidence, vec!["a".to_owned()]).with_tunings(&files);
        let found = check_traces(&run).0;
        assert_eq!(found.iter().any(|it| it.rule == "TRC006"), fires, "{us} {file}: {found:?}");
    }
}

#[test]
fn layouts_around_convolutions() {
    let with = |convolution: &str| {
        one(|m| {
            m.kernel(convolution, (0, 0), 0, 100, -10);
            m.kernel("batched_transpose_16x32_half", (0, 0), 100, 120, -9);
        })
    };
    assert_eq!(with("igemm_fwd_gtcx3_nhwc_bf16"), ["TRC007"]);
    assert!(with(GEMM).is_empty(), "no convolution");
}

#[test]
fn conversions_of_types() {
    let of = |us: i64| {
        one(|m| {
            m.kernel(GEMM, (0, 0), 0, 1000, -10);
            m.kernel("vectorized_elementwise_kernel<bfloat16_copy_kernel_cuda>", (0, 0), 1000, 1000 + us, -9);
        })
    };
    assert_eq!(of(100), ["TRC008"]);
    assert!(of(40).is_empty());
}

#[test]
fn parts_of_a_board_and_several_gpus_of_a_process() {
    let of = |ranks: u64| {
        one(|m| {
            m.kernel(GEMM, (0, 0), 0, 1000, -10);
            m.kernel(NCCL, (0, 0), 1000, 1010, -9).collective(ranks);
        })
    };
    assert_eq!(of(4), ["SYS005"]);
    assert!(of(8).is_empty());
    let gpus = |second: u64| {
        one(|m| {
            for device in [0, second] {
                m.kernel(GEMM, (device, 0), 0, 1000, -10);
                m.kernel(NCCL, (device, 1), 0, 900, -9).collective(8);
            }
        })
    };
    assert_eq!(gpus(1), ["SYS006"]);
    assert!(gpus(0).is_empty());
}

#[test]
fn many_streams() {
    let of = |streams: u64| {
        one(|m| {
            for stream in 0..streams {
                m.kernel(GEMM, (0, stream), 0, 1000, -10);
            }
            m.kernel(NCCL, (0, streams), 0, 1000, -9).collective(8);
        })
    };
    assert_eq!(of(4), ["SYS007"]);
    assert!(of(3).is_empty());
}

#[test]
fn kernel_arguments_in_host_memory() {
    let with = |environment: Option<&str>| {
        let mut made = Made::new();
        for at in 0..40 {
            made.kernel(GEMM, (0, 0), at * 100, at * 100 + 97, -1000);
        }
        made.timeline.environment =
            environment.map(|value| vec![("HIP_FORCE_DEV_KERNARG".to_owned(), value.to_owned())]);
        fired(&[made.timeline])
    };
    assert_eq!(with(Some("0")), ["LCH006"]);
    assert!(with(Some("1")).is_empty());
    assert!(with(None).is_empty(), "not checked");
}

#[test]
fn benchmarks_of_products() {
    let of = |size: u64, fill: &str| {
        one(|m| {
            for at in 0..25 {
                m.kernel(GEMM, (0, 0), at * 100, at * 100 + 100, -1000);
                let (dims, strides) =
                    (format!("[[{size}, 64], [64, {size}]]"), format!("[[64, 1], [{size}, 1]]"));
                m.operator("aten::mm", &dims, &strides);
            }
            m.host(HostKind::Operator, fill, (0, 1), [0, 0], 0);
        })
    };
    assert_eq!(of(1024, "aten::randn"), ["ENV005"]);
    assert_eq!(of(1024, "aten::zeros"), ["ENV005", "MAT006"]);
    assert!(of(16384, "aten::randn").is_empty(), "512 MiB of result");
}

#[test]
fn a_slow_gpu() {
    let rank = |us: i64| {
        let mut made = Made::new();
        for at in 0..10 {
            made.kernel(GEMM, (0, 0), at * 1000, at * 1000 + us, -10_000);
        }
        made.timeline
    };
    assert!(fired(&[rank(900), rank(940)]).contains(&"CTR006"));
    assert!(!fired(&[rank(900), rank(910)]).contains(&"CTR006"));
}
