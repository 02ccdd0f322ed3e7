"""A batch of products of int8 with int32 sums; a scale for each row and for each column of each batch."""

import torch
import triton
import triton.language as tl


@triton.jit
def _quantize_rows(
    x_ptr, q_ptr, scale_ptr, rows, length, batch_stride, row_stride, stride, BLOCK: tl.constexpr
):
    row, batch = tl.program_id(0), tl.program_id(1).to(tl.int64)
    x_ptr += batch * batch_stride + row * row_stride
    most = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.abs(tl.load(x_ptr + at * stride, mask=at < length, other=0.0)))
    largest = tl.max(most, 0)
    scale = tl.where(largest > 0, largest / 127.0, 1.0)
    tl.store(scale_ptr + batch * rows + row, scale)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + at * stride, mask=at < length, other=0.0)
        q = tl.minimum(tl.maximum(tl.floor(x / scale + 0.5), -127.0), 127.0)
        tl.store(q_ptr + (batch * rows + row) * length + at, q.to(tl.int8), mask=at < length)


@triton.jit
def _bmm_int8(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(2).to(tl.int64)
    a_ptr += batch * M * K
    b_ptr += batch * N * K
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    total = tl.zeros((BLOCK_M, BLOCK_N), tl.int32)
    for start in range(0, K, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a_mask = (rows[:, None] < M) & (k[None, :] < K)
        b_mask = (k[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * K + k[None, :], mask=a_mask, other=0)
        b = tl.load(b_ptr + columns[None, :] * K + k[:, None], mask=b_mask, other=0)
        total = tl.dot(a, b, total, out_dtype=tl.int32)
    a_scale = tl.load(a_scale_ptr + batch * M + rows, mask=rows < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + batch * N + columns, mask=columns < N, other=0.0)
    out = total.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + batch * M * N + rows[:, None] * N + columns[None, :], out, mask=inside)


def _quantized(x):
    """The rows of each batch as int8, and a scale for each."""
    batches, rows, length = x.shape
    q = torch.empty((batches, rows, length), dtype=torch.int8, device=x.device)
    scale = torch.empty((batches, rows), dtype=torch.float32, device=x.device)
    _quantize_rows[(rows, batches)](x, q, scale, rows, length, *x.stride(), BLOCK=1024)
    return q, scale


def bmm_w8a8(input, mat2):
    (batches, M, K), N = input.shape, mat2.shape[2]
    a, a_scale = _quantized(input)
    b, b_scale = _quantized(mat2.mT)
    out = torch.empty((batches, M, N), dtype=torch.float32, device=input.device)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64), batches)
    _bmm_int8[grid](a, b, a_scale, b_scale, out, M, N, K, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64)
    return out
