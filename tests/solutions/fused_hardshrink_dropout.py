import torch
import triton
import triton.language as tl


@triton.jit
def _shrink(x, y, n, p, scale, lambd, seed, DROP: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    values = tl.load(x + at, mask=at < n)
    if DROP:
        values = tl.where(tl.rand(seed, at) >= p, values * scale, 0.0)
    tl.store(y + at, tl.where(tl.abs(values) > lambd, values, 0.0), mask=at < n)


def fused_hardshrink_dropout(input, p=0.5, training=True, inplace=False, lambd=0.5):
    output = torch.empty_like(input)
    n = input.numel()
    drop = training and p > 0
    seed = int(torch.randint(2**31, (1,))) if drop else 0
    scale = 1 / (1 - p) if p < 1 else 0.0
    _shrink[(triton.cdiv(n, 1024),)](input, output, n, p, scale, lambd, seed, DROP=drop, BLOCK=1024)
    return output
