//! Kernels that Triton compiled: results equal NumPy's, and templates know Triton's facts.

use crate::run::{folder, rockhound, root};
use std::path::{Path, PathBuf};

/// Kernel, work-items of a program, arguments.
const KERNELS: [(&str, u32, &str); 5] = [
    ("matmul", 256, "a:f16 b:f16 c:f16 M:i32 N:i32 K:i32"),
    ("softmax", 128, "x:f32 y:f32 columns:i32"),
    ("layer_norm", 256, "x:f16 weight:f32 bias:f32 y:f16 columns:i32 epsilon:f32"),
    ("attention", 256, "q:f16 k:f16 v:f16 out:f16 length:i32 scale:f32"),
    ("matmul_int4", 256, "a:f16 packed:i32 scales:f16 c:f16 M:i32 N:i32 K:i32"),
];
const TARGETS: [&str; 3] = ["gfx90a", "gfx942", "gfx950"];

fn of(kernel: &str, target: &str, extension: &str) -> PathBuf {
    Path::new("examples/triton").join(kernel).join(target).with_extension(extension)
}

#[test]
fn results_equal_those_of_numpy() {
    let recording = folder("triton");
    for (kernel, ..) in KERNELS {
        for target in TARGETS {
            let file = of(kernel, target, "toml").display().to_string();
            let ran = rockhound(&["profile", &file, "-o", &recording.display().to_string(), "--overwrite"]);
            assert_eq!(ran.code, 0, "{file}: {}", ran.stderr);
        }
    }
}

#[test]
fn results_are_compared() {
    let place = folder("triton_wrong");
    let text = std::fs::read_to_string(root().join(of("softmax", "gfx942", "toml"))).unwrap();
    let text =
        text.replace("\"gfx942.hsaco\"", &format!("{:?}", root().join(of("softmax", "gfx942", "hsaco"))));
    let expected = root().join("examples/triton/softmax/expected.bin");
    let text = text.replace("\"expected.bin\"", &format!("{expected:?}"));
    for (from, to, code) in
        [("seed = 3", "seed = 3", 0), ("seed = 3", "seed = 4", 2), ("[-8.0, 8.0]", "[-8.0, 8.1]", 2)]
    {
        let file = place.join("LAUNCH.toml");
        std::fs::write(&file, text.replace(from, to)).unwrap();
        let (file, place) = (file.display().to_string(), place.display().to_string());
        let ran = rockhound(&["profile", &file, "-o", &place, "--overwrite"]);
        assert_eq!(ran.code, code, "{to}: {}", ran.stderr);
    }
}

#[test]
fn templates_know_names_types_and_sizes() {
    for (kernel, workgroup, arguments) in KERNELS {
        let code = of(kernel, "gfx942", "hsaco").display().to_string();
        let ran = rockhound(&["launch-template", &code]);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let template: toml::Table = toml::from_str(&ran.stdout).unwrap();
        let committed = std::fs::read_to_string(root().join(of(kernel, "gfx942", "toml"))).unwrap();
        let committed: toml::Table = toml::from_str(&committed).unwrap();
        assert_eq!(template["workgroup"], toml::Value::from(vec![i64::from(workgroup)]), "{kernel}");
        for key in ["workgroup", "dynamic_lds"] {
            assert_eq!(template[key], committed[key], "{kernel}: {key}");
        }
        let of = |file: &toml::Table| -> Vec<String> {
            let text = |it: &toml::Value, key: &str| it[key].as_str().unwrap().to_owned();
            let list = file["argument"].as_array().unwrap();
            list.iter().map(|it| format!("{}:{}", text(it, "name"), text(it, "type"))).collect()
        };
        assert_eq!(of(&template).join(" "), format!("{arguments} global_scratch:u64 profile_scratch:u64"));
        assert_eq!(of(&template), of(&committed), "{kernel}");
    }
}
