"""Negative elements are scaled."""

import torch
import triton
import triton.language as tl


@triton.jit
def _leaky_relu_kernel(x_ptr, y_ptr, n, slope, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.where(x > 0, x, x * slope)
    tl.store(y_ptr + at, y, mask=inside)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    x = input.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        _leaky_relu_kernel[(triton.cdiv(n, 4096),)](x, y, n, negative_slope, BLOCK=4096)
    return input.copy_(y) if inplace else y
