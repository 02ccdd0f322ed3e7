"""Both forms of GELU, computed in float32."""

import torch
import triton
import triton.language as tl
from triton.language.extra import libdevice


@triton.jit
def _gelu_kernel(x_ptr, y_ptr, n, TANH: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    wide = x.to(tl.float32)
    if TANH:
        inner = 0.7978845608028654 * (wide + 0.044715 * wide * wide * wide)
        y = 0.5 * wide * (1.0 + libdevice.tanh(inner))
    else:
        y = 0.5 * wide * (1.0 + tl.erf(wide * 0.7071067811865476))
    tl.store(y_ptr + at, y, mask=inside)


def gelu(input, approximate="none"):
    x = input.contiguous()
    y = torch.empty_like(x)
    n = x.numel()
    if n:
        _gelu_kernel[(triton.cdiv(n, 4096),)](x, y, n, approximate == "tanh", BLOCK=4096)
    return y
