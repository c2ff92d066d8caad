"""A matrix product whose tiles `matmul.toml` searches, compiled without a GPU.

    rockhound tune examples/tune/matmul.toml --budget 30
"""

import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP_M: tl.constexpr):
    """c = a @ b, row by row; programs go down GROUP_M rows of tiles before the next column, so that they share tiles of b."""
    rows, columns = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    group = tl.program_id(0) // (GROUP_M * columns)
    height = min(rows - group * GROUP_M, GROUP_M)
    within = tl.program_id(0) % (GROUP_M * columns)
    m = (group * GROUP_M + within % height) * BLOCK_M + tl.arange(0, BLOCK_M)
    n = within // height * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        inside = start + k < K
        left = tl.load(a + (m % M)[:, None] * K + (start + k)[None, :], mask=inside[None, :], other=0.0)
        right = tl.load(b + (start + k)[:, None] * N + (n % N)[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(left, right, acc)
    tl.store(c + m[:, None] * N + n[None, :], acc.to(tl.float16), mask=(m < M)[:, None] & (n < N)[None, :])
