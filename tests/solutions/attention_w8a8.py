"""Queries and keys as int8 with int32 scores; softmax in float32, block by block; values from int8 on the fly."""

import torch
import triton
import triton.language as tl


@triton.jit
def _quantize_tokens(x_ptr, q_ptr, scale_ptr, width, factor, WIDTH: tl.constexpr):
    token = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + token * width + at, mask=at < width, other=0.0)
    largest = tl.max(tl.abs(x), 0)
    scale = tl.where(largest > 0, largest / 127.0, 1.0)
    q = tl.minimum(tl.maximum(tl.floor(x / scale + 0.5), -127.0), 127.0)
    tl.store(q_ptr + token * width + at, q.to(tl.int8), mask=at < width)
    tl.store(scale_ptr + token, scale * factor)  # the factor goes into the scale: rounding stays the same


@triton.jit
def _attend(
    q_ptr, k_ptr, v_ptr, q_scale_ptr, k_scale_ptr, v_scale_ptr, out_ptr, length, width,
    WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr,
):  # fmt: skip
    batch = tl.program_id(1).to(tl.int64)
    q_ptr += batch * length * width
    k_ptr += batch * length * width
    v_ptr += batch * length * width
    rows = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    at = tl.arange(0, WIDTH)
    q_mask = (rows[:, None] < length) & (at[None, :] < width)
    q = tl.load(q_ptr + rows[:, None] * width + at[None, :], mask=q_mask, other=0)
    q_scale = tl.load(q_scale_ptr + batch * length + rows, mask=rows < length, other=0.0)
    largest = tl.full((QUERIES,), float("-inf"), tl.float32)
    weight_sum = tl.zeros((QUERIES,), tl.float32)
    total = tl.zeros((QUERIES, WIDTH), tl.float32)
    for start in range(0, length, KEYS):
        keys = start + tl.arange(0, KEYS)
        k_mask = (at[:, None] < width) & (keys[None, :] < length)
        k = tl.load(k_ptr + keys[None, :] * width + at[:, None], mask=k_mask, other=0)
        k_scale = tl.load(k_scale_ptr + batch * length + keys, mask=keys < length, other=0.0)
        scores = tl.dot(q, k, out_dtype=tl.int32).to(tl.float32) * q_scale[:, None] * k_scale[None, :]
        scores = tl.where(keys[None, :] < length, scores, float("-inf"))
        above = tl.maximum(largest, tl.max(scores, 1))
        shrunk = tl.exp(largest - above)
        weights = tl.exp(scores - above[:, None])
        v_mask = (keys[:, None] < length) & (at[None, :] < width)
        v = tl.load(v_ptr + keys[:, None] * width + at[None, :], mask=v_mask, other=0).to(tl.float32)
        v *= tl.load(v_scale_ptr + batch * length + keys, mask=keys < length, other=0.0)[:, None]
        total = tl.dot(weights, v, total * shrunk[:, None], input_precision="tf32")
        weight_sum = weight_sum * shrunk + tl.sum(weights, 1)
        largest = above
    out = total / weight_sum[:, None]
    tl.store(out_ptr + (batch * length + rows[:, None]) * width + at[None, :], out, mask=q_mask)


def _quantized(x, factor=1.0):
    """Each token as int8, and its scale times `factor`."""
    x = x.contiguous()
    tokens, width = x.numel() // x.shape[-1], x.shape[-1]
    q = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scale = torch.empty(tokens, dtype=torch.float32, device=x.device)
    _quantize_tokens[(tokens,)](x, q, scale, width, factor, WIDTH=triton.next_power_of_2(width), num_warps=1)
    return q, scale


def attention_w8a8(query, key, value):
    batches, length, width = query.shape
    q, q_scale = _quantized(query, width**-0.5)
    k, k_scale = _quantized(key)
    v, v_scale = _quantized(value)
    out = torch.empty((batches, length, width), dtype=torch.float32, device=query.device)
    _attend[(triton.cdiv(length, 64), batches)](
        q, k, v, q_scale, k_scale, v_scale, out, length, width,
        WIDTH=max(32, triton.next_power_of_2(width)), QUERIES=64, KEYS=64,
    )  # fmt: skip
    return out
