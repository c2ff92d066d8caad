"""Causal attention forward in one kernel, with a running maximum and sum, and tensor descriptors where this Triton has them."""

import torch
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def attention_kernel(q_desc, k_desc, v_desc, o_desc, M, scale, LENGTH, HEAD: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr):
    start = tl.program_id(0)
    head = tl.program_id(1)
    first = head * LENGTH
    offs_m = start * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = tl.arange(0, BLOCK_N)
    m_i = tl.zeros([BLOCK_M], dtype=tl.float32) - float("inf")
    l_i = tl.zeros([BLOCK_M], dtype=tl.float32) + 1.0
    acc = tl.zeros([BLOCK_M, HEAD], dtype=tl.float32)
    qk_scale = scale * 1.44269504
    q = q_desc.load([first + start * BLOCK_M, 0])
    end = LENGTH
    if CAUSAL:
        end = (start + 1) * BLOCK_M
    for n in range(0, end, BLOCK_N):
        k = k_desc.load([first + n, 0]).T
        qk = tl.dot(q, k) * qk_scale
        if CAUSAL:
            qk = tl.where(offs_m[:, None] >= n + offs_n[None, :], qk, -1.0e6)
        m_ij = tl.maximum(m_i, tl.max(qk, 1))
        p = tl.math.exp2(qk - m_ij[:, None])
        alpha = tl.math.exp2(m_i - m_ij)
        l_i = l_i * alpha + tl.sum(p, 1)
        acc = acc * alpha[:, None]
        v = v_desc.load([first + n, 0])
        acc = tl.dot(p.to(tl.float16), v, acc)
        m_i = m_ij
    tl.store(M + first + offs_m, m_i + tl.math.log2(l_i))
    o_desc.store([first + start * BLOCK_M, 0], (acc / l_i[:, None]).to(tl.float16))


def attention(q, k, v, causal, scale):
    batch, heads, length, head = q.shape
    o = torch.empty_like(q)
    M = torch.empty((batch, heads, length), device=q.device, dtype=torch.float32)
    rows = batch * heads * length
    block_m, block_n = 32, 32
    describe = lambda x, block: TensorDescriptor(x, shape=[rows, head], strides=[head, 1], block_shape=[block, head])  # noqa: E731
    grid = (length // block_m, batch * heads)
    descriptors = describe(q, block_m), describe(k, block_n), describe(v, block_n), describe(o, block_m)
    attention_kernel[grid](*descriptors, M, scale, length, HEAD=head, BLOCK_M=block_m, BLOCK_N=block_n, CAUSAL=causal, num_warps=4, num_stages=1)
    return o


torch.manual_seed(20)
q, k, v = (torch.empty((1, 2, 64, 32), dtype=torch.float16, device=DEVICE).normal_(mean=0.0, std=0.5) for _ in range(3))
for causal in (True, False):
    p = torch.matmul(q, k.transpose(2, 3)) * 0.5
    if causal:
        mask = torch.tril(torch.ones((64, 64), device=DEVICE))
        p[:, :, mask == 0] = float("-inf")
    expected = torch.matmul(torch.softmax(p.float(), dim=-1).half(), v)
    found = attention(q, k, v, causal, 0.5)
    torch.testing.assert_close(found, expected, atol=1e-2, rtol=0)
print("attention equals torch's")
