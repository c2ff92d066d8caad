//! HIP sources with host code, on a machine without ROCm.

use crate::run::{folder, rockhound};
use serde_json::Value;
use std::path::Path;

/// Calls of libraries that are not here, a header of the project, a template that `main` instantiates.
const SOURCE: &str = r#"
#include <hip/hip_runtime.h>
#include <mpi.h>
#include <cstdio>
#include <vector>
#include "scale.h"
#define CHECK(call) do { hipError_t error = call; if (error != hipSuccess) { printf("%s\n", hipGetErrorString(error)); return 1; } } while (0)
struct Settings { int n = 1 << 20; };
__global__ void add(float *a, const float *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] += scaled(b[i]);
}
template <class T> __global__ void fill(T *a, T value, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = value;
}
int main(int argc, char **argv) {
  Settings settings;
  MPI_Init(&argc, &argv);
  float *a, *b;
  CHECK(hipMalloc(&a, settings.n * sizeof *a));
  CHECK(hipMalloc((void **)&b, settings.n * sizeof *b));
  std::vector<float> host(settings.n, 1.0f);
  CHECK(hipMemcpy(b, host.data(), host.size() * sizeof(float), hipMemcpyHostToDevice));
  hipEvent_t start;
  CHECK(hipEventCreate(&start));
  fill<float><<<dim3(settings.n / 256), dim3(256)>>>(a, 0.5f, settings.n);
  hipLaunchKernelGGL(add, dim3(settings.n / 256), dim3(256), 0, 0, a, b, settings.n);
  CHECK(hipDeviceSynchronize());
  DETAILS
  MPI_Finalize();
}
"#;

fn write(dir: &Path, details: &str) -> String {
    let path = dir.join("main.hip");
    std::fs::write(
        dir.join("include/scale.h"),
        "__device__ inline float scaled(float x) { return x * FACTOR; }\n",
    )
    .unwrap();
    std::fs::write(dir.join("Makefile"), "CC = hipcc\nCFLAGS = $(X) -DFACTOR=3 \\\n  -I./include\n").unwrap();
    std::fs::write(&path, SOURCE.replace("DETAILS", details)).unwrap();
    path.display().to_string()
}

fn kernels(text: &str) -> Vec<String> {
    let document: Value = serde_json::from_str(text).unwrap();
    let mut all: Vec<String> = document["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["demangled"].as_str().or(it["name"].as_str()).unwrap_or_default().to_owned())
        .collect();
    all.sort();
    all
}

#[test]
fn kernels_are_compiled_whatever_the_host_code_calls() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    for (name, details, code, expected) in [
        ("plain", "", 0, &["add", "fill<float>"][..]),
        (
            "properties",
            "hipDeviceProp_t p; hipGetDeviceProperties(&p, 0); fill<<<1, 2>>>((double *)a, 1.0, 2);",
            0,
            &["add", "fill<double>", "fill<float>"],
        ),
        // A member that nothing declares: the function goes, what it instantiates by name stays.
        ("member", "MPI_Status s; printf(\"%d\", s.MPI_SOURCE);", 0, &["add", "fill<float>"]),
        // Types that only the code that is left out knows.
        (
            "deduced",
            "MPI_Status s; s.MPI_SOURCE = 1; fill<<<1, 2>>>((double *)a, 1.0, 2);",
            1,
            &["add", "fill<float>"],
        ),
        (
            "of a local type",
            "typedef double real; MPI_Status s; s.x = 1; fill<real><<<1, 2>>>(0, 0, 2);",
            1,
            &["add"],
        ),
    ] {
        let dir = folder(&format!("host-code-{name}"));
        std::fs::create_dir_all(dir.join("include")).unwrap();
        let ran = rockhound(&["inspect", "--format", "json", "--arch", "gfx90a", &write(&dir, details)]);
        assert_eq!(ran.code, code, "{name}: {}", ran.stderr);
        let found = kernels(&ran.stdout);
        assert_eq!(found.len(), expected.len(), "{name}: {found:?} {}", ran.stderr);
        for (kernel, name) in found.iter().zip(expected) {
            assert!(kernel.contains(name), "{kernel} {name}");
        }
        let document: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(crate::schema::Schema::of("inspect-1").problems(&document), [""; 0]);
        let notes = document["notes"].to_string();
        assert!(
            notes.contains("mpi.h") && notes.contains("-D FACTOR=3") && ran.stderr.contains("-D FACTOR=3"),
            "{notes}"
        );
        assert_eq!(document["errors"].to_string().contains("`fill"), code == 1, "{document}");
    }
}

/// Bytes of another encoding, names of `std` from a header that is not there, macros of PyTorch's builds and of HIP's headers.
#[test]
fn what_builds_elsewhere_compiles() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    let source = b"// \xa9 2013\n\
        #include <torch/extension.h>\n\
        #include <hip/amd_detail/amd_hip_fp8.h>\n\
        #include <hip_bf16.h>\n\
        #if !defined(USE_ROCM) || !defined(HIP_INCLUDE_HIP_HIP_RUNTIME_H)\n#error macros\n#endif\n\
        struct Cache { std::unordered_map<int, std::string> names; };\n\
        __global__ void narrow(__hip_fp8_e4m3_fnuz *a, const half *b) { a[threadIdx.x] = __hip_fp8_e4m3_fnuz(b[threadIdx.x]); }\n\
        __device__ __hip_bfloat16 wide;\n\
        void launch(void *a, void *b) {\n\
          hipMemcpy(a, b, 4, hipMemcpyHostToDevice);\n\
          hipIpcMemHandle_t handle; handle.unknown = 1;\n\
          narrow<<<1, 64>>>((__hip_fp8_e4m3_fnuz *)a, (const half *)b);\n\
        }\n";
    let dir = folder("host-code-elsewhere");
    let path = dir.join("main.hip");
    std::fs::write(&path, source).unwrap();
    let ran = rockhound(&["inspect", "--format", "json", &path.display().to_string()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let found = kernels(&ran.stdout);
    assert!(found.len() == 1 && found[0].contains("narrow"), "{found:?}");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let notes = document["notes"].to_string();
    for part in ["torch/extension.h", "std::unordered_map", "launch"] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
}

#[test]
fn code_for_the_gpu_is_never_left_out() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    for (name, more) in [
        ("call", "__global__ void k(float *a) { *a = MPI_Wtime(); }"),
        ("type", "__global__ void k(MPI_Comm *a) { a[1] = a[0]; }"),
        // Marked for the GPU by a macro, which is not seen before it is compiled.
        (
            "macro",
            "#define BOTH __host__ __device__\nBOTH float f(float x) { return x * lost_name(x); }\n__global__ void k(float *a) { *a = f(*a); }",
        ),
        ("member", "struct S { MPI_Comm c; float f; };\n__global__ void k(S s, float *a) { *a = s.f; }"),
        (
            "runtime",
            "struct S { float *a; hipDeviceProp_t p; int n; };\n__global__ void k(S s) { *s.a = s.n; }",
        ),
        (
            "nested",
            "struct C { int i; MPI_Comm c; };\nstruct S { C c; float f; }; __global__ void k(S *s) { s[1].f = 1; }",
        ),
        (
            "named",
            "typedef hipDeviceProp_t device; struct E { device at; int n; };\n__global__ void k(E *e) { e->n = 1; }",
        ),
        ("alias", "typedef Lost_t real;\n__global__ void k(int *a) { *a = sizeof(real); }"),
        (
            "instance",
            "template <class T> __global__ void k(int *a) { *a = sizeof(T); }\nvoid launch() { Lost_t x; k<Lost_t><<<1, 1>>>(0); }",
        ),
        (
            "header",
            "#include \"settings.h\"\n#ifndef N\n#define N 1\n#endif\n__global__ void k(int *a) { *a = N; }",
        ),
        ("constant", "constexpr int f() { return lost_name; }\n__global__ void k(int *a) { *a = f(); }"),
    ] {
        let dir = folder(&format!("host-code-gpu-{name}"));
        let path = dir.join("main.hip");
        let host = "void host() { lost_name(1); MPI_Comm c; MPI_Wtime(); }";
        std::fs::write(&path, format!("#include <hip/hip_runtime.h>\n#include <mpi.h>\n{more}\n{host}\n"))
            .unwrap();
        let ran = rockhound(&["inspect", "--format", "json", &path.display().to_string()]);
        assert_eq!(ran.code, 1, "{name}: {} {}", ran.stdout, ran.stderr);
        assert!(
            ["main.hip:3", "main.hip:4", "__rh_any"].iter().any(|it| ran.stderr.contains(it)),
            "{name}: {}",
            ran.stderr
        );
    }
}

#[test]
fn classes_of_the_host_may_have_what_nothing_declares() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    let dir = folder("host-code-classes");
    let header = "#include \"mpi.h\"\nstruct Grid {\n  MPI_Comm comm;\n  MPI_Request all[4];\n  hipStream_t stream;\n  double *x;\n  \
        void send() { MPI_Isend(x, 1, MPI_DOUBLE, 0, 0, comm, all); }\n};\nstruct Sizes { int n; };\n";
    let source = "#include <hip/hip_runtime.h>\n#include \"grid.h\"\n__global__ void k(double *x, Sizes s) { if (threadIdx.x < s.n) x[0] = 1; }\n\
        int main() { Grid g; g.send(); k<<<1, 64, 0, g.stream>>>(g.x, Sizes{3}); }\n";
    std::fs::write(dir.join("grid.h"), header).unwrap();
    std::fs::write(dir.join("main.hip"), source).unwrap();
    let ran = rockhound(&["inspect", "--format", "json", &dir.join("main.hip").display().to_string()]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let notes = document["notes"].to_string();
    assert!(ran.stdout.contains("k(double*, Sizes)") && notes.contains("mpi.h"), "{}", ran.stdout);
}

#[test]
fn headers_that_a_build_makes_are_read_where_no_kernel_depends_on_them() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    for (name, kernel, code) in [
        ("host", "__global__ void k(int *a) { *a = 1; }\nvoid host() { printf(\"%d\", VERSION); }", 0),
        ("value", "__global__ void k(int *a) { *a = VERSION; }", 1),
        (
            "compared",
            "#if VERSION >= 500\n#define N 2\n#else\n#define N 1\n#endif\n__global__ void k(int *a) { *a = N; }",
            1,
        ),
        (
            "option",
            "#ifdef USE_WIDE\n#define N 2\n#else\n#define N 1\n#endif\n__global__ void k(int *a) { *a = N; }",
            1,
        ),
    ] {
        let dir = folder(&format!("host-code-made-{name}"));
        std::fs::create_dir_all(dir.join(".git")).unwrap();
        std::fs::write(dir.join("config.h.in"), "#define VERSION @MAJOR@\n#cmakedefine USE_WIDE\n").unwrap();
        let source = format!(
            "#include <hip/hip_runtime.h>\n#include \"project/config.h\"\n#include <cstdio>\n{kernel}\n"
        );
        std::fs::write(dir.join("main.hip"), source).unwrap();
        let ran = rockhound(&["inspect", "--format", "json", &dir.join("main.hip").display().to_string()]);
        assert_eq!(ran.code, code, "{name}: {} {}", ran.stdout, ran.stderr);
        for text in ["project/config.h", "config.h.in"] {
            assert!(ran.stdout.contains(text), "{name}: {} {}", ran.stdout, ran.stderr);
        }
    }
}

/// Handles of the runtime have its sizes, so that a class with them may be a kernel's argument.
#[test]
fn handles_of_the_runtime_are_as_large_as_there() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    let dir = folder("host-code-handles");
    let source = "#include <hip/hip_runtime.h>\n\
        struct S { float *a; hipStream_t s; hipEvent_t e; hipError_t error; int n; };\n\
        static_assert(sizeof(S) == 32 && __builtin_offsetof(S, n) == 28, \"\");\n\
        #define CHECK(x) do { hipError_t error = (x); if (error != hipSuccess) { printf(\"%s\", hipGetErrorString(error)); exit(1); } } while (0)\n\
        __global__ void k(S s) { *s.a = s.n; }\n\
        hipError_t make(hipStream_t *s) { return *s ? hipErrorInvalidValue : hipStreamCreate(s); }\n\
        int main() {\n  S s; s.s = nullptr; CHECK(make(&s.s)); CHECK(hipEventCreate(&s.e));\n  \
        k<<<1, 64, 0, s.s>>>(s);\n  CHECK(hipStreamSynchronize(s.s)); hipStream_t t = lost(); return s.s == t; }\n";
    let path = dir.join("main.hip");
    std::fs::write(&path, source).unwrap();
    let ran = rockhound(&["inspect", "--format", "json", &path.display().to_string()]);
    assert!(ran.code == 0 && ran.stdout.contains("k(S)"), "{} {}", ran.stdout, ran.stderr);
    assert!(!ran.stdout.contains("is left out"), "{}", ran.stdout);
}

/// Variants of a program have headers of the same name, and what they share includes it.
#[test]
fn a_header_that_several_variants_have_is_that_of_the_source() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    let dir = folder("host-code-variants");
    for (at, text) in [
        ("shared/chunk.h", "#include \"extension.h\"\n"),
        ("hip/extension.h", "#define N 7\n"),
        ("omp/extension.h", "#error of another variant\n"),
        (
            "hip/k.hip",
            "#include <hip/hip_runtime.h>\n#include \"chunk.h\"\n__global__ void k(int *a) { *a = N; }\n",
        ),
        (
            "rocm/k.hip",
            "#include <hip/hip_runtime.h>\n#include \"chunk.h\"\n__global__ void k(int *a) { *a = N; }\n",
        ),
    ] {
        let path = dir.join(at);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let inspect = |at: &str| rockhound(&["inspect", "--format", "json", &dir.join(at).display().to_string()]);
    let ran = inspect("hip/k.hip");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    let notes = document["notes"].to_string();
    assert!(notes.contains("extension.h") && notes.contains("omp"), "{notes}");
    let ran = inspect("rocm/k.hip");
    assert!(ran.code == 1 && ran.stderr.contains("`extension.h` is in 2 folders"), "{}", ran.stderr);
}

#[test]
fn commands_that_run_a_source_say_what_it_lacks() {
    if !testkit::needs(&["clang++-22"]) {
        return;
    }
    let dir = folder("host-code-run");
    let source = "#include <hip/hip_runtime.h>\n#include <mpi.h>\n__global__ void k(int *a) { *a = 1; }\nint main() { MPI_Finalize(); }\n";
    std::fs::write(dir.join("main.hip"), source).unwrap();
    let argument = "[[argument]]\nname = \"a\"\ntype = \"i32\"\nshape = [64]\n";
    let launch = format!("code = \"main.hip\"\ngrid = [64]\nworkgroup = [64]\n{argument}");
    std::fs::write(dir.join("LAUNCH.toml"), launch).unwrap();
    for arguments in [
        "profile LAUNCH.toml -o out",
        "launch-template main.hip",
        "judge --launch LAUNCH.toml main.hip main.hip",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let ran = crate::run::run_in(&dir, &arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {}", ran.stderr);
        assert!((ran.stdout + &ran.stderr).contains("`mpi.h` is not found"), "{arguments:?}");
    }
}
