"""Products of tiles with IEEE float32 accumulation; every rank becomes a batch of matrices."""

import torch
import triton
import triton.language as tl


@triton.jit
def _matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, a_batch, a_row, a_column, b_batch, b_row, b_column, BLOCK: tl.constexpr
):
    batch = tl.program_id(2).to(tl.int64)
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, BLOCK):
        k = start + tl.arange(0, BLOCK)
        a = tl.load(
            a_ptr + batch * a_batch + rows[:, None] * a_row + k[None, :] * a_column,
            mask=(rows[:, None] < M) & (k[None, :] < K),
            other=0.0,
        )
        b = tl.load(
            b_ptr + batch * b_batch + k[:, None] * b_row + columns[None, :] * b_column,
            mask=(k[:, None] < K) & (columns[None, :] < N),
            other=0.0,
        )
        total = tl.dot(a, b, total, input_precision="ieee")
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + batch * M * N + rows[:, None] * N + columns[None, :], total, mask=inside)


def matmul(input, other):
    a = input.unsqueeze(0) if input.dim() == 1 else input
    b = other.unsqueeze(1) if other.dim() == 1 else other
    M, K, N = a.shape[-2], a.shape[-1], b.shape[-1]
    batch = torch.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = a.expand(*batch, M, K).reshape(-1, M, K)
    b = b.expand(*batch, K, N).reshape(-1, K, N)
    c = torch.empty(a.shape[0], M, N, dtype=input.dtype, device=input.device)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), a.shape[0])
    _matmul_kernel[grid](a, b, c, M, N, K, *a.stride(), *b.stride(), BLOCK=32)
    shape = list(batch)
    if input.dim() > 1:
        shape.append(M)
    if other.dim() > 1:
        shape.append(N)
    return c.reshape(shape)
