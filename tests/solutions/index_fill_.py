"""A tile of listed positions by elements; writing a position twice does no harm."""

import triton
import triton.language as tl


@triton.jit
def _fill_kernel(
    x_ptr, index_ptr, count, length, inner, elements, value, POSITIONS: tl.constexpr, BLOCK: tl.constexpr
):
    listed = tl.program_id(0) * POSITIONS + tl.arange(0, POSITIONS)
    position = tl.load(index_ptr + listed, mask=listed < count, other=0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    start = (at // inner) * length * inner + at % inner
    inside = (listed[:, None] < count) & (at[None, :] < elements)
    tl.store(x_ptr + start[None, :] + position[:, None] * inner, value, mask=inside)


def index_fill_(dim, x, index, value):
    target = x.contiguous()
    inner = target.stride(dim)
    elements, count = x.numel() // x.shape[dim], index.numel()
    block = min(128, triton.next_power_of_2(elements))
    grid = (triton.cdiv(count, 64), triton.cdiv(elements, block))
    _fill_kernel[grid](
        target, index, count, x.shape[dim], inner, elements, float(value), POSITIONS=64, BLOCK=block
    )
    return x if target is x else x.copy_(target)
