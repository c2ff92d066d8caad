//! Files of each kind with what is read of them.

use super::*;
use crate::command::Kind;

fn one(name: &str, text: &str) -> Job {
    let mut jobs = jobs(name, text).expect("a file of a job").expect("readable");
    assert_eq!(jobs.len(), 1, "{jobs:?}");
    jobs.remove(0)
}

fn variables(job: &Job) -> Vec<(&str, &str)> {
    job.environment.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

#[test]
fn compose() {
    let text = "x-common: &common\n  ipc: host\n  devices:\n    - /dev/kfd\n    - /dev/dri:/dev/dri\nservices:\n  llm:\n    <<: *common\n    image: i\n    environment:\n      - HIP_VISIBLE_DEVICES=0,1\n      - NCCL_DEBUG=${LEVEL:-INFO}\n    security_opt: [seccomp=unconfined]\n    group_add: [video, render]\n    cap_add: [CAP_SYS_PTRACE]\n    ulimits:\n      memlock: -1\n    command: >\n      vllm serve m\n      -tp 2\n  web:\n    image: w\n    shm_size: 16gb\n    env_file: .env\n    environment:\n      A_B: 1\n    command: [\"python\", \"-m\", \"x\"]\n";
    let jobs = jobs("compose.yaml", text).unwrap().unwrap();
    let [llm, web] = jobs.as_slice() else { panic!("{jobs:?}") };
    assert_eq!(llm.name, "compose.yaml, service llm");
    assert_eq!(variables(llm), [("HIP_VISIBLE_DEVICES", "0,1"), ("NCCL_DEBUG", "INFO")]);
    let command = llm.command.as_ref().unwrap();
    assert_eq!(command.stage(Kind::VllmServe).unwrap().value(&["-tp"]), Some("2"));
    let container = llm.container.as_ref().unwrap();
    assert_eq!(
        (container.devices.as_slice(), container.ipc_mode.as_str()),
        (&["/dev/kfd".to_owned(), "/dev/dri".to_owned()][..], "host")
    );
    assert_eq!(
        (container.memlock, container.capabilities.as_slice()),
        (Some(-1), &["SYS_PTRACE".to_owned()][..])
    );
    assert_eq!(variables(web), [("A_B", "1")]);
    assert_eq!(web.container.as_ref().unwrap().shm_bytes, Some(16 << 30));
    assert!(web.notes[0].contains(".env"), "{:?}", web.notes);
}

#[test]
fn kubernetes() {
    let text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n---\napiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      volumes:\n        - name: shm\n          emptyDir:\n            medium: Memory\n            sizeLimit: 32Gi\n      containers:\n        - name: vllm\n          env:\n            - name: NCCL_P2P_DISABLE\n              value: \"1\"\n            - name: TOKEN\n              valueFrom: {secretKeyRef: {name: a, key: b}}\n          command: [\"/bin/bash\", \"-c\"]\n          args: [\"vllm serve m --tensor-parallel-size 8\"]\n          resources:\n            limits:\n              amd.com/gpu: 8\n              cpu: 500m\n          volumeMounts:\n            - {name: shm, mountPath: /dev/shm}\n";
    let job = one("pod.yaml", text);
    assert_eq!(variables(&job), [("NCCL_P2P_DISABLE", "1")]);
    assert!(job.notes[0].contains("TOKEN"), "{:?}", job.notes);
    assert_eq!(job.command.as_ref().unwrap().communicates(), Some(true));
    let container = job.container.unwrap();
    assert_eq!((container.shm_bytes, container.nano_cpus), (Some(32 << 30), 500_000_000));
    assert_eq!(container.devices, ["/dev/kfd", "/dev/dri"]);
    let bare = one(
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nspec:\n  hostIPC: true\n  containers:\n    - name: a\n      image: b\n",
    );
    let container = bare.container.unwrap();
    assert_eq!((container.devices.len(), container.ipc_mode.as_str()), (0, "host"));
}

#[test]
fn scripts() {
    let text = "#!/bin/bash\n#SBATCH --nodes=2 # two\n#SBATCH --ntasks-per-node=8\n#SBATCH --export=ALL,HSA_XNACK=1\nmodule load rocm\nsource env.sh\nexport NCCL_MIN_NCHANNELS=112 A=1\nunset A\nLOCAL=2\necho start\nsrun --cpu-bind=none \\\n  python train.py --x 1\n";
    let job = one("job.sbatch", text);
    assert!(job.kind.ends_with("Slurm"), "{}", job.kind);
    assert_eq!(variables(&job), [("HSA_XNACK", "1"), ("NCCL_MIN_NCHANNELS", "112")]);
    assert_eq!(job.command.as_ref().unwrap().processes(), Some(8));
    assert!(job.notes[0].contains("env.sh"), "{:?}", job.notes);
    let text = "#!/usr/bin/env bash\nset -a\nB=3\nMODEL=m\ndocker run -e C=4 img vllm serve $MODEL\n";
    let job = one("run.sh", text);
    assert_eq!((job.kind, variables(&job)), ("shell script", vec![("B", "3"), ("MODEL", "m")]));
    assert_eq!(job.command.unwrap().isolated_by.as_deref(), Some("docker"));
}

#[test]
fn dockerfiles() {
    let text = "# syntax\nARG B=x\nFROM a AS build\nENV LOST=1\nRUN make\nFROM b\nENV HIP_FORCE_DEV_KERNARG=1 \\\n    NCCL_DEBUG=\"INFO\"\nENV OLD form\nENTRYPOINT [\"vllm\", \"serve\"]\nCMD [\"m\", \"-tp\", \"8\"]\n";
    let job = one("Dockerfile", text);
    assert_eq!(variables(&job), [("HIP_FORCE_DEV_KERNARG", "1"), ("NCCL_DEBUG", "INFO"), ("OLD", "form")]);
    assert_eq!(job.command.unwrap().stage(Kind::VllmServe).unwrap().words, ["m"]);
}

#[test]
fn other_files_are_none() {
    for text in [
        "",
        "A=1\n",
        "FROM: somebody\n",
        "From the beginning of the log it was slow, and so on and so on\n",
        "hello\nservices are down\n",
        "kind: x\n",
    ] {
        assert_eq!(jobs("f", text), None, "{text}");
    }
    for text in [
        "services:\n",
        "services: [\n",
        "#!/bin/sh\necho a\n",
        "FROM a\nRUN b\n",
        "apiVersion: v1\nkind: Service\n",
    ] {
        assert!(jobs("f", text).is_some_and(|it| it.is_err()), "{text}");
    }
    for (text, expected) in
        [("64m", Some(64 << 20)), ("1.5Gi", Some(3 << 29)), ("7", Some(7)), ("x", None), ("1 zb", None)]
    {
        assert_eq!(bytes(text), expected, "{text}");
    }
}
