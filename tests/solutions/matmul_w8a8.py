"""Rows and columns to int8 in one pass each, then a product of int8 with int32 sums."""

import torch
import triton
import triton.language as tl


@triton.jit
def _quantize_rows(x_ptr, q_ptr, scale_ptr, length, row_stride, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    most = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + at * stride, mask=at < length, other=0.0)
        most = tl.maximum(most, tl.abs(x))
    largest = tl.max(most, 0)
    scale = tl.where(largest > 0, largest / 127.0, 1.0)
    tl.store(scale_ptr + row, scale)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * row_stride + at * stride, mask=at < length, other=0.0)
        # a cast cuts the fraction off: floor(x + 1/2) rounds to the nearest
        q = tl.minimum(tl.maximum(tl.floor(x / scale + 0.5), -127.0), 127.0)
        tl.store(q_ptr + row * length + at, q.to(tl.int8), mask=at < length)


@triton.jit
def _matmul_int8(
    a_ptr, b_ptr, a_scale_ptr, b_scale_ptr, out_ptr, M, N, K,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
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
    a_scale = tl.load(a_scale_ptr + rows, mask=rows < M, other=0.0)
    b_scale = tl.load(b_scale_ptr + columns, mask=columns < N, other=0.0)
    out = total.to(tl.float32) * a_scale[:, None] * b_scale[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], out, mask=inside)


def _quantized(x):
    """The rows of a matrix as int8, and a scale for each."""
    rows, length = x.shape
    q = torch.empty((rows, length), dtype=torch.int8, device=x.device)
    scale = torch.empty(rows, dtype=torch.float32, device=x.device)
    _quantize_rows[(rows,)](x, q, scale, length, x.stride(0), x.stride(1), BLOCK=1024)
    return q, scale


def matmul_w8a8(input, weight):
    (M, K), N = input.shape, weight.shape[1]
    a, a_scale = _quantized(input)
    b, b_scale = _quantized(weight.t())  # columns become rows: what is multiplied lies together
    out = torch.empty((M, N), dtype=torch.float32, device=input.device)
    grid = (triton.cdiv(M, 64), triton.cdiv(N, 64))
    _matmul_int8[grid](a, b, a_scale, b_scale, out, M, N, K, BLOCK_M=64, BLOCK_N=64, BLOCK_K=64)
    return out
