# outcome: call_failed
# says: not_defined
# line: 12
import torch
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    tl.store(x_ptr + offsets, not_defined, mask=offsets < n)  # noqa: F821


def gelu(input, approximate="none"):
    output = torch.empty_like(input)
    kernel[(1,)](output, input.numel(), BLOCK=16)
    return output
