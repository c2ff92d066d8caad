"""Compiles the kernels of examples/triton for three targets in eight settings each, without a GPU; Triton's cache is the result."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[5] / "examples/triton"))

import kernels
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HALF, SINGLE = "*fp16", "*fp32"
TILES = [(64, 64, 32, 4, 2), (128, 128, 32, 4, 3), (128, 64, 64, 4, 2), (128, 128, 64, 8, 2), (64, 128, 64, 4, 1), (32, 64, 128, 2, 2), (128, 256, 32, 8, 2), (64, 32, 64, 1, 2)]
ROWS = [(256, 1), (512, 2), (1024, 4), (2048, 4), (4096, 8), (8192, 8), (1024, 1), (1024, 8)]
HEADS = [(64, 32, 64, 4, 2), (128, 64, 64, 4, 1), (128, 32, 128, 4, 2), (64, 64, 128, 4, 1), (128, 128, 64, 8, 1), (32, 32, 64, 2, 2), (64, 64, 64, 8, 2), (128, 64, 128, 8, 2)]


def settings():
    """Kernel, types, constants, options."""
    for m, n, k, warps, stages in TILES:
        tile, options = {"BM": m, "BN": n, "BK": k}, {"num_warps": warps, "num_stages": stages}
        yield kernels.matmul, {"a": HALF, "b": HALF, "c": HALF, "M": "i32", "N": "i32", "K": "i32"}, tile, options
        types = {"a": HALF, "packed": "*i32", "scales": HALF, "c": HALF, "M": "i32", "N": "i32", "K": "i32"}
        yield kernels.matmul_int4, types, {"GROUP": 32, **tile}, options
    for block, warps in ROWS:
        yield kernels.softmax, {"x": SINGLE, "y": SINGLE, "columns": "i32"}, {"BLOCK": block}, {"num_warps": warps}
        types = {"x": HALF, "weight": SINGLE, "bias": SINGLE, "y": HALF, "columns": "i32", "epsilon": "fp32"}
        yield kernels.layer_norm, types, {"BLOCK": block}, {"num_warps": warps}
    for m, n, d, warps, stages in HEADS:
        types = {"q": HALF, "k": HALF, "v": HALF, "out": HALF, "length": "i32", "scale": "fp32"}
        yield kernels.attention, types, {"BM": m, "BN": n, "D": d}, {"num_warps": warps, "num_stages": stages}


def main():
    compiled = 0
    for target in os.environ.get("TARGETS", "gfx90a gfx942 gfx950").split():
        for kernel, types, constants, options in settings():
            order = kernel.arg_names
            whole = {name: kind for name, kind in types.items() if kind.startswith("*") or kind == "i32"}
            attributes = {(order.index(name),): [["tt.divisibility", 16]] for name in whole}
            source = ASTSource(fn=kernel, signature=types | {name: "constexpr" for name in constants}, constexprs=constants, attrs=attributes)
            triton.compile(source, target=GPUTarget("hip", target, 64), options=options)
            compiled += 1
    print(compiled, "compiled")


if __name__ == "__main__":
    main()
