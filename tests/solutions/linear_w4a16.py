"""Weights to int4, two in a byte, with a scale for each row; unpacked and multiplied with float16 on the fly."""

import torch
import triton
import triton.language as tl


@triton.jit
def _pack_rows(w_ptr, packed_ptr, scale_ptr, length, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    w_ptr += row * length
    half = length // 2
    most = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, length, BLOCK):
        at = start + tl.arange(0, BLOCK)
        most = tl.maximum(most, tl.abs(tl.load(w_ptr + at, mask=at < length, other=0.0).to(tl.float32)))
    largest = tl.max(most, 0)
    scale = tl.where(largest > 0, largest / 7.0, 1.0)
    tl.store(scale_ptr + row, scale)
    for start in range(0, half, BLOCK):
        at = start + tl.arange(0, BLOCK)
        first = tl.load(w_ptr + 2 * at, mask=at < half, other=0.0).to(tl.float32)
        second = tl.load(w_ptr + 2 * at + 1, mask=at < half, other=0.0).to(tl.float32)
        low = tl.minimum(tl.maximum(tl.floor(first / scale + 0.5), -8.0), 7.0).to(tl.int32)
        high = tl.minimum(tl.maximum(tl.floor(second / scale + 0.5), -8.0), 7.0).to(tl.int32)
        tl.store(packed_ptr + row * half + at, ((low & 15) | ((high & 15) << 4)).to(tl.uint8), mask=at < half)


@triton.jit
def _linear_int4(
    x_ptr, packed_ptr, scale_ptr, bias_ptr, out_ptr, B, N, K, x_row, x_column,
    BIAS: tl.constexpr, BLOCK_B: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_B + tl.arange(0, BLOCK_B)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    half = K // 2
    total = tl.zeros((BLOCK_B, BLOCK_N), tl.float32)
    for start in range(0, half, BLOCK_K):
        at = start + tl.arange(0, BLOCK_K)
        byte_mask = (at[:, None] < half) & (columns[None, :] < N)
        place = columns[None, :].to(tl.int64) * half + at[:, None]
        packed = tl.load(packed_ptr + place, mask=byte_mask, other=0).to(tl.int32)
        # a nibble from 8 on is a negative number
        low = (((packed & 15) ^ 8) - 8).to(tl.float16)
        high = (((packed >> 4) ^ 8) - 8).to(tl.float16)
        x_mask = (rows[:, None] < B) & (at[None, :] < half)
        even = tl.load(x_ptr + rows[:, None] * x_row + 2 * at[None, :] * x_column, mask=x_mask, other=0.0)
        odd = tl.load(
            x_ptr + rows[:, None] * x_row + (2 * at[None, :] + 1) * x_column, mask=x_mask, other=0.0
        )
        total = tl.dot(even, low, total)
        total = tl.dot(odd, high, total)
    scale = tl.load(scale_ptr + columns, mask=columns < N, other=0.0)
    out = total * scale[None, :]
    if BIAS:
        out += tl.load(bias_ptr + columns, mask=columns < N, other=0.0).to(tl.float32)[None, :]
    inside = (rows[:, None] < B) & (columns[None, :] < N)
    tl.store(out_ptr + rows[:, None] * N + columns[None, :], out.to(tl.float16), mask=inside)


def linear_w4a16(input, weight, bias=None):
    (B, K), N = input.shape, weight.shape[0]
    packed = torch.empty((N, K // 2), dtype=torch.uint8, device=weight.device)
    scale = torch.empty(N, dtype=torch.float32, device=weight.device)
    _pack_rows[(N,)](weight.contiguous(), packed, scale, K, BLOCK=1024)
    out = torch.empty((B, N), dtype=torch.float16, device=input.device)
    grid = (triton.cdiv(B, 16), triton.cdiv(N, 64))
    _linear_int4[grid](
        input, packed, scale, bias, out, B, N, K, *input.stride(),
        BIAS=bias is not None, BLOCK_B=16, BLOCK_N=64, BLOCK_K=64,
    )  # fmt: skip
    return out
