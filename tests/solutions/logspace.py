"""Evenly spaced exponents in the result's dtype, counted from the nearer end; then the power."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _logspace_kernel(y_ptr, numbers_ptr, n, BLOCK: tl.constexpr):
    kind: tl.constexpr = y_ptr.dtype.element_ty
    start, end = tl.load(numbers_ptr), tl.load(numbers_ptr + 1)
    step, base = tl.load(numbers_ptr + 2), tl.load(numbers_ptr + 3)
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    exponent = tl.where(at < n // 2, start + at.to(kind) * step, end - (n - 1 - at).to(kind) * step)
    tl.store(y_ptr + at, libdevice.pow(tl.zeros_like(exponent) + base, exponent), mask=at < n)


def logspace(start, end, steps, base=10.0, dtype=None, device=None):
    y = torch.empty(steps, dtype=dtype or torch.float32, device=device)
    if steps == 1:
        end = start
    step = (end - start) / max(steps - 1, 1)
    # In a tensor: a number passed to a kernel would be float32 whatever the result's dtype.
    numbers = torch.tensor([start, end, step, base], dtype=y.dtype, device=device)
    _logspace_kernel[(triton.cdiv(steps, 1024),)](y, numbers, steps, BLOCK=1024)
    return y
