"""Convolution as a product of int8 windows with int8 weights, int32 sums; a scale an image and an output channel."""

import torch
import triton
import triton.language as tl


@triton.jit
def _largest(x_ptr, most_ptr, length, BLOCK: tl.constexpr):
    row = tl.program_id(1).to(tl.int64)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * length + at, mask=at < length, other=0.0)
    tl.store(most_ptr + row * tl.num_programs(0) + tl.program_id(0), tl.max(tl.abs(x), 0))


@triton.jit
def _quantize(
    x_ptr, most_ptr, q_ptr, scale_ptr, length, BLOCKS: tl.constexpr, PARTS: tl.constexpr, BLOCK: tl.constexpr
):
    row = tl.program_id(1).to(tl.int64)
    part = tl.arange(0, PARTS)
    largest = tl.max(tl.load(most_ptr + row * BLOCKS + part, mask=part < BLOCKS, other=0.0), 0)
    scale = tl.where(largest > 0, largest / 127.0, 1.0)
    tl.store(scale_ptr + row, scale)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * length + at, mask=at < length, other=0.0)
    q = tl.minimum(tl.maximum(tl.floor(x / scale + 0.5), -127.0), 127.0)
    tl.store(q_ptr + row * length + at, q.to(tl.int8), mask=at < length)


@triton.jit
def _conv_int8(
    x_ptr, w_ptr, x_scale_ptr, w_scale_ptr, bias_ptr, y_ptr, C, H, W, O, R, S, pixels, stride, padding, inner,
    KH: tl.constexpr, KW: tl.constexpr, BIAS: tl.constexpr,
    PIXELS: tl.constexpr, CHANNELS: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * PIXELS + tl.arange(0, PIXELS)
    j, i, image = at % S, (at // S) % R, at // (S * R)
    o = tl.program_id(1) * CHANNELS + tl.arange(0, CHANNELS)
    total = tl.zeros((PIXELS, CHANNELS), tl.int32)
    for start in range(0, inner, BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        q, p, c = k % KW, (k // KW) % KH, k // (KW * KH)
        row = i[:, None] * stride + p[None, :] - padding
        column = j[:, None] * stride + q[None, :] - padding
        inside = (row >= 0) & (row < H) & (column >= 0) & (column < W)
        mask = inside & (at[:, None] < pixels) & (k[None, :] < inner)
        place = ((image[:, None] * C + c[None, :]) * H + row) * W + column
        x = tl.load(x_ptr + place, mask=mask, other=0)
        w_mask = (k[:, None] < inner) & (o[None, :] < O)
        w = tl.load(w_ptr + o[None, :] * inner + k[:, None], mask=w_mask, other=0)
        total = tl.dot(x, w, total, out_dtype=tl.int32)
    x_scale = tl.load(x_scale_ptr + image, mask=at < pixels, other=0.0)
    w_scale = tl.load(w_scale_ptr + o, mask=o < O, other=0.0)
    y = total.to(tl.float32) * x_scale[:, None] * w_scale[None, :]
    if BIAS:
        y += tl.load(bias_ptr + o, mask=o < O, other=0.0)[None, :]
    place = ((image[:, None] * O + o[None, :]) * R + i[:, None]) * S + j[:, None]
    tl.store(y_ptr + place, y, mask=(at[:, None] < pixels) & (o[None, :] < O))


def _quantized(x):
    """The first dimension's slices as int8, and a scale for each."""
    rows, length = x.shape[0], x[0].numel()
    x = x.contiguous()
    block = 1024
    while triton.cdiv(length, block) > 1024:
        block *= 2
    blocks = triton.cdiv(length, block)
    most = torch.empty((rows, blocks), dtype=torch.float32, device=x.device)
    q = torch.empty(x.shape, dtype=torch.int8, device=x.device)
    scale = torch.empty(rows, dtype=torch.float32, device=x.device)
    _largest[(blocks, rows)](x, most, length, BLOCK=block)
    parts = triton.next_power_of_2(blocks)
    _quantize[(blocks, rows)](x, most, q, scale, length, BLOCKS=blocks, PARTS=parts, BLOCK=block)
    return q, scale


def conv2d_w8a8(input, weight, bias=None, stride=1, padding=0):
    (images, C, H, W), (O, _, KH, KW) = input.shape, weight.shape
    R, S = (H + 2 * padding - KH) // stride + 1, (W + 2 * padding - KW) // stride + 1
    x, x_scale = _quantized(input)
    w, w_scale = _quantized(weight)
    y = torch.empty((images, O, R, S), dtype=torch.float32, device=input.device)
    pixels = images * R * S
    grid = (triton.cdiv(pixels, 64), triton.cdiv(O, 32))
    _conv_int8[grid](
        x, w, x_scale, w_scale, bias, y, C, H, W, O, R, S, pixels, stride, padding, C * KH * KW,
        KH=KH, KW=KW, BIAS=bias is not None, PIXELS=64, CHANNELS=32, BLOCK_K=32,
    )  # fmt: skip
    return y
