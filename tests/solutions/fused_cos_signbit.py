"""Cosine and its sign in one pass."""

import torch
import triton
import triton.language as tl


@triton.jit
def _cos_signbit_kernel(x_ptr, cosine_ptr, sign_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    cosine = tl.cos(tl.load(x_ptr + at, mask=inside))
    tl.store(cosine_ptr + at, cosine, mask=inside)
    tl.store(sign_ptr + at, cosine < 0, mask=inside)


def fused_cos_signbit(input):
    x = input.contiguous()
    cosine, sign = torch.empty_like(x), torch.empty_like(x, dtype=torch.bool)
    _cos_signbit_kernel[(triton.cdiv(x.numel(), 4096),)](x, cosine, sign, x.numel(), BLOCK=4096)
    return cosine, sign
