"""Products of matrices as servers of language models run them, for modelled times of tiles.

One kernel for a product and for the products of many experts: rows of an expert begin with a new tile, weights are rows of K, and `stride`
elements lie from row to row. Arguments have the
names that tuned files use.
"""

import triton
import triton.language as tl


@triton.jit
def product(
    a, b, c, a_scales, b_scales, rows, N, K, stride, blocks, columns,
    BLOCK_SIZE_M: tl.constexpr, BLOCK_SIZE_N: tl.constexpr, BLOCK_SIZE_K: tl.constexpr, GROUP_SIZE_M: tl.constexpr,
    SCALE_N: tl.constexpr, SCALE_K: tl.constexpr, WHOLE: tl.constexpr,
):  # fmt: skip
    """c = a @ b.T of `blocks` tiles of rows and `columns` tiles of columns; each expert has `rows` rows. Sums of WHOLE numbers are whole."""
    group = tl.program_id(0) // (GROUP_SIZE_M * columns)
    height = min(blocks - group * GROUP_SIZE_M, GROUP_SIZE_M)
    within = tl.program_id(0) % (GROUP_SIZE_M * columns)
    block = group * GROUP_SIZE_M + within % height
    each = tl.cdiv(rows, BLOCK_SIZE_M)
    expert = block // each
    m = (block % each) * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    n = within // height * BLOCK_SIZE_N + tl.arange(0, BLOCK_SIZE_N)
    k = tl.arange(0, BLOCK_SIZE_K)
    row = expert * rows + m % rows
    column = n % N
    left_at = a + row[:, None] * stride + k[None, :]
    right_at = b + (expert.to(tl.int64) * N + column[None, :]) * stride + k[:, None]
    OF_DOT: tl.constexpr = tl.int32 if WHOLE else tl.float32
    acc = tl.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=tl.float32 if SCALE_K > 0 else OF_DOT)
    for start in range(0, tl.cdiv(K, BLOCK_SIZE_K)):
        left = tl.load(left_at, mask=k[None, :] < K - start * BLOCK_SIZE_K, other=0.0)
        right = tl.load(right_at, mask=k[:, None] < K - start * BLOCK_SIZE_K, other=0.0)
        if SCALE_K > 0:
            deep = start * BLOCK_SIZE_K // SCALE_K
            of_rows = tl.load(a_scales + row * tl.cdiv(K, SCALE_K) + deep)
            of_columns = tl.load(b_scales + (expert * tl.cdiv(N, SCALE_N) + column // SCALE_N) * tl.cdiv(K, SCALE_K) + deep)
            acc += tl.dot(left, right, out_dtype=OF_DOT) * of_rows[:, None] * of_columns[None, :]
        else:
            acc = tl.dot(left, right, acc, out_dtype=OF_DOT)
        left_at += BLOCK_SIZE_K
        right_at += BLOCK_SIZE_K
    tl.store(c + row[:, None] * N + column[None, :], acc.to(tl.float32).to(c.dtype.element_ty), mask=(m < rows)[:, None] & (n < N)[None, :])
