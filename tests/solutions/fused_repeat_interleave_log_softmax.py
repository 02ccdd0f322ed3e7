"""The result's elements are found through a list of source positions; two sweeps over each row."""

import torch
import triton
import triton.language as tl


@triton.jit
def _repeat_log_softmax_kernel(x_ptr, source_ptr, y_ptr, columns, wide, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    kind: tl.constexpr = y_ptr.dtype.element_ty
    largest = tl.full((BLOCK,), float("-inf"), kind)
    total = tl.zeros((BLOCK,), kind)
    for start in range(0, wide, BLOCK):
        inside = start + at < wide
        source = tl.load(source_ptr + start + at, mask=inside, other=0)
        x = tl.load(x_ptr + row * columns + source, mask=inside, other=float("-inf")).to(kind)
        higher = tl.maximum(largest, x)
        # a lane that has seen nothing yet stays at zero
        total = tl.where(higher == float("-inf"), 0.0, total * tl.exp(largest - higher) + tl.exp(x - higher))
        largest = higher
    top = tl.max(largest, axis=0)
    whole = tl.sum(tl.where(largest == float("-inf"), 0.0, total * tl.exp(largest - top)), axis=0)
    log_whole = tl.log(whole)
    for start in range(0, wide, BLOCK):
        inside = start + at < wide
        source = tl.load(source_ptr + start + at, mask=inside, other=0)
        x = tl.load(x_ptr + row * columns + source, mask=inside, other=0.0).to(kind)
        tl.store(y_ptr + row * wide + start + at, x - top - log_whole, mask=inside)


def fused_repeat_interleave_log_softmax(input, repeats, dim=None, *, dtype=None):
    x = input.reshape(-1) if dim is None else input.movedim(dim, -1)
    x = x.contiguous()
    columns = x.shape[-1]
    source = torch.repeat_interleave(torch.arange(columns, device=x.device), repeats)
    wide = source.numel()
    y = torch.empty(*x.shape[:-1], wide, dtype=dtype or x.dtype, device=x.device)
    block = min(2048, triton.next_power_of_2(wide))
    _repeat_log_softmax_kernel[(x.numel() // columns,)](x, source, y, columns, wide, BLOCK=block)
    return y if dim is None else y.movedim(-1, dim)
