import torch
import triton
import triton.language as tl


@triton.jit
def _fill(out, n, seed, DOUBLE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    first, second, _, _ = tl.randint4x(seed, at)
    if DOUBLE:
        high = (first.to(tl.uint32, bitcast=True) >> 5).to(tl.float64)
        low = (second.to(tl.uint32, bitcast=True) >> 6).to(tl.float64)
        values = (high * 67108864.0 + low) / 9007199254740992.0
    else:
        values = (first.to(tl.uint32, bitcast=True) >> 8).to(tl.float32) / 16777216.0
    tl.store(out + at, values, mask=at < n)


def rand(*size, generator=None, dtype=None, device=None, requires_grad=False):
    out = torch.empty(*size, dtype=dtype or torch.float32, device=device)
    seed = int(
        torch.randint(2**62, (1,), generator=generator, device=generator.device if generator else "cpu")
    )
    n = out.numel()
    _fill[(triton.cdiv(n, 1024),)](out, n, seed, DOUBLE=out.dtype == torch.float64, BLOCK=1024)
    return out.requires_grad_(requires_grad)
