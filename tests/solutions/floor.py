"""Rounds down; integers stay as they are."""

import torch
import triton
import triton.language as tl


@triton.jit
def _floor_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    y = tl.floor(x) if x.dtype.is_floating() else x
    tl.store(y_ptr + at, y, mask=inside)


def floor(input):
    x = input.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        _floor_kernel[(triton.cdiv(n, 4096),)](x, y, n, BLOCK=4096)
    return y
