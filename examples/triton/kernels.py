"""Triton kernels compiled without a GPU, with launch files and expected results.

`cargo xtask triton` runs this; it needs `triton` 3.6 and `numpy`, no GPU and no torch. For each kernel and target it
writes FOLDER/KERNEL/TARGET.hsaco, Triton's own TARGET.json and a launch file TARGET.toml, and for each kernel the results
that NumPy computes. `rockhound profile examples/triton/matmul/gfx942.toml` runs one.
"""
import json
import pathlib
import sys

import numpy as np
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGETS = ["gfx90a", "gfx942", "gfx950"]
TYPES = {"fp16": ("f16", np.float16), "fp32": ("f32", np.float32), "i32": ("i32", np.int32)}


@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(a + m[:, None] * K + (start + k)[None, :])
        right = tl.load(b + (start + k)[:, None] * N + n[None, :])
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


@triton.jit
def softmax(x, y, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    value = tl.load(x + row * columns + at, mask=at < columns, other=-float("inf"))
    power = tl.exp(value - tl.max(value, 0))
    tl.store(y + row * columns + at, power / tl.sum(power, 0), mask=at < columns)


@triton.jit
def layer_norm(x, weight, bias, y, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    inside = at < columns
    value = tl.load(x + row * columns + at, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, 0) / columns
    distance = tl.where(inside, value - mean, 0.0)
    scale = 1.0 / tl.sqrt(tl.sum(distance * distance, 0) / columns + epsilon)
    w = tl.load(weight + at, mask=inside, other=0.0)
    b = tl.load(bias + at, mask=inside, other=0.0)
    tl.store(y + row * columns + at, (distance * scale * w + b).to(tl.float16), mask=inside)


@triton.jit
def attention(q, k, v, out, length, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Flash attention, causal: a program takes BM queries of a head and walks over the keys once."""
    start = tl.program_id(0) * BM
    head = tl.program_id(1) * length * D
    m = start + tl.arange(0, BM)
    d = tl.arange(0, D)
    query = tl.load(q + head + m[:, None] * D + d[None, :])
    most = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for first in range(0, start + BM, BN):
        n = first + tl.arange(0, BN)
        key = tl.load(k + head + n[None, :] * D + d[:, None])
        score = tl.dot(query, key) * scale
        score = tl.where(m[:, None] >= n[None, :], score, -float("inf"))
        new = tl.maximum(most, tl.max(score, 1))
        power = tl.exp(score - new[:, None])
        shrink = tl.exp(most - new)
        total = total * shrink + tl.sum(power, 1)
        value = tl.load(v + head + n[:, None] * D + d[None, :])
        acc = tl.dot(power.to(tl.float16), value, acc * shrink[:, None])
        most = new
    tl.store(out + head + m[:, None] * D + d[None, :], (acc / total[:, None]).to(tl.float16))


@triton.jit
def matmul_int4(a, packed, scales, c, M, N, K, GROUP: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Weights of four bits, eight along K in an int, with a scale for each GROUP of them in a column."""
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    n = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        at = start + k
        left = tl.load(a + m[:, None] * K + at[None, :])
        word = tl.load(packed + (at // 8)[:, None] * N + n[None, :])
        scale = tl.load(scales + (at // GROUP)[:, None] * N + n[None, :])
        weight = (((word >> (at % 8 * 4)[:, None]) & 15) - 8).to(tl.float16) * scale
        acc = tl.dot(left, weight, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16))


def random(seed, count):
    """The numbers of `initial = "random"`: the finisher of SplitMix64."""
    wide = np.uint64
    with np.errstate(over="ignore"):
        bits = (wide(seed) ^ (np.arange(count, dtype=wide) * wide(0x9E3779B97F4A7C15))) + wide(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> wide(30))) * wide(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> wide(27))) * wide(0x94D049BB133111EB)
    return ((bits ^ (bits >> wide(31))) >> wide(11)).astype(np.float64) / 2.0**53


class Buffer:
    """A pointer argument: random numbers of a range, or the result."""

    def __init__(self, kind, *shape, range=None, seed=0):
        self.kind, self.shape, self.range, self.seed = kind, shape, range, seed

    def values(self):
        low, high = self.range
        numbers = low + (high - low) * random(self.seed, int(np.prod(self.shape)))
        whole = np.issubdtype(TYPES[self.kind][1], np.integer)
        return (np.floor(numbers) if whole else numbers).astype(TYPES[self.kind][1]).reshape(self.shape)


def of_softmax(x):
    power = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def of_layer_norm(x, weight, bias):
    wide = x.astype(np.float64)
    distance = wide - wide.mean(1, keepdims=True)
    return distance / np.sqrt((distance**2).mean(1, keepdims=True) + 1e-5) * weight + bias


def of_attention(q, k, v):
    q, k, v = (it.astype(np.float64) for it in (q, k, v))
    score = np.einsum("hmd,hnd->hmn", q, k) * 0.125
    score = np.where(np.tril(np.ones(score.shape[1:], bool)), score, -np.inf)
    power = np.exp(score - score.max(2, keepdims=True))
    return np.einsum("hmn,hnd->hmd", power / power.sum(2, keepdims=True), v)


def of_matmul_int4(a, packed, scales):
    nibbles = (packed[:, None, :] >> (4 * np.arange(8, dtype=np.int32))[None, :, None]) & 15
    weights = (nibbles.reshape(-1, packed.shape[1]) - 8).astype(np.float16) * np.repeat(scales, 32, 0)
    return a.astype(np.float64) @ weights.astype(np.float64)


# For each kernel: arguments in order, tile, programs, options, what NumPy computes of the inputs, tolerance of the result's type.
M, N, K = 64, 96, 128
HEADS, LENGTH, D = 2, 128, 64
KERNELS = [
    (
        matmul,
        {
            "a": Buffer("fp16", M, K, range=(-1, 1), seed=1),
            "b": Buffer("fp16", K, N, range=(-1, 1), seed=2),
            "c": Buffer("fp16", M, N),
            "M": M,
            "N": N,
            "K": K,
        },
        {"BM": 32, "BN": 32, "BK": 32},
        (M // 32, N // 32),
        {"num_warps": 4, "num_stages": 2},
        lambda a, b: a.astype(np.float64) @ b.astype(np.float64),
        1e-3,
    ),
    (
        softmax,
        {"x": Buffer("fp32", 16, 200, range=(-8, 8), seed=3), "y": Buffer("fp32", 16, 200), "columns": 200},
        {"BLOCK": 256},
        (16,),
        {"num_warps": 2},
        of_softmax,
        1e-6,
    ),
    (
        layer_norm,
        {
            "x": Buffer("fp16", 16, 384, range=(-2, 6), seed=4),
            "weight": Buffer("fp32", 384, range=(0, 2), seed=5),
            "bias": Buffer("fp32", 384, range=(-1, 1), seed=6),
            "y": Buffer("fp16", 16, 384),
            "columns": 384,
            "epsilon": 1e-5,
        },
        {"BLOCK": 512},
        (16,),
        {"num_warps": 4},
        of_layer_norm,
        1e-3,
    ),
    (
        attention,
        {
            "q": Buffer("fp16", HEADS, LENGTH, D, range=(-2, 2), seed=7),
            "k": Buffer("fp16", HEADS, LENGTH, D, range=(-2, 2), seed=8),
            "v": Buffer("fp16", HEADS, LENGTH, D, range=(-1, 1), seed=9),
            "out": Buffer("fp16", HEADS, LENGTH, D),
            "length": LENGTH,
            "scale": 0.125,
        },
        {"BM": 64, "BN": 32, "D": D},
        (LENGTH // 64, HEADS),
        {"num_warps": 4, "num_stages": 2},
        of_attention,
        2e-3,
    ),
    (
        matmul_int4,
        {
            "a": Buffer("fp16", M, K, range=(-1, 1), seed=10),
            "packed": Buffer("i32", K // 8, N, range=(-(2**31), 2**31 - 1), seed=11),
            "scales": Buffer("fp16", K // 32, N, range=(0.01, 0.2), seed=12),
            "c": Buffer("fp16", M, N),
            "M": M,
            "N": N,
            "K": K,
        },
        {"GROUP": 32, "BM": 32, "BN": 32, "BK": 32},
        (M // 32, N // 32),
        {"num_warps": 4, "num_stages": 2},
        of_matmul_int4,
        2e-3,
    ),
]


def kind(value):
    return f"*{value.kind}" if isinstance(value, Buffer) else "fp32" if isinstance(value, float) else "i32"


def launch_file(name, target, arguments, programs, built, tolerance):
    workgroup = built.metadata.num_warps * built.metadata.warp_size
    grid = [programs[0] * workgroup, *programs[1:]]
    lines = [
        f"# rockhound profile examples/triton/{name}/{target}.toml",
        f'code = "{target}.hsaco"',
        f'kernel = "{name}"',
        f"grid = {grid}        # {' x '.join(map(str, programs))} programs of {workgroup} work-items",
        f"workgroup = [{workgroup}]",
        f"dynamic_lds = {built.metadata.shared}",
    ]
    for argument, value in arguments.items():
        lines += ["", "[[argument]]", f'name = "{argument}"']
        if not isinstance(value, Buffer):
            lines += [f'type = "{TYPES[kind(value)][0]}"', f"value = {value}"]
            continue
        lines += [f'type = "{TYPES[value.kind][0]}"', f"shape = {list(value.shape)}"]
        if value.range:
            lines += ['initial = "random"', f"seed = {value.seed}", f"range = {[float(it) for it in value.range]}"]
        else:
            lines += ['expected_file = "expected.bin"', f"tolerance = {tolerance}"]
    # Triton passes two pointers besides, to memory that these kernels do not use.
    for argument in ("global_scratch", "profile_scratch"):
        lines += ["", "[[argument]]", f'name = "{argument}"', 'type = "u64"', "value = 0"]
    return "\n".join(lines) + "\n"


def main(folder):
    for kernel, arguments, tile, programs, options, compute, tolerance in KERNELS:
        name = kernel.__name__
        place = pathlib.Path(folder) / name
        place.mkdir(parents=True, exist_ok=True)
        signature = {argument: kind(value) for argument, value in arguments.items()}
        aligned = [i for i, it in enumerate(arguments.values()) if isinstance(it, Buffer) or (isinstance(it, int) and it % 16 == 0)]
        for target in TARGETS:
            source = ASTSource(
                fn=kernel,
                signature=signature | {it: "constexpr" for it in tile},
                constexprs=tile,
                attrs={(i,): [["tt.divisibility", 16]] for i in aligned},
            )
            built = triton.compile(source, target=GPUTarget("hip", target, 64), options=options)
            (place / f"{target}.hsaco").write_bytes(built.asm["hsaco"])
            companion = json.loads(pathlib.Path(built.metadata_group[f"{name}.json"]).read_text())
            companion.pop("extern_libs")  # names folders of the machine that compiled
            companion["signature"] = signature
            (place / f"{target}.json").write_text(json.dumps(companion, indent=1) + "\n")
            (place / f"{target}.toml").write_text(launch_file(name, target, arguments, programs, built, tolerance))
        inputs = [it.values() for it in arguments.values() if isinstance(it, Buffer) and it.range]
        result = next(it for it in arguments.values() if isinstance(it, Buffer) and not it.range)
        compute(*inputs).astype(TYPES[result.kind][1]).tofile(place / "expected.bin")
        print(name)


if __name__ == "__main__":
    main(sys.argv[1])
