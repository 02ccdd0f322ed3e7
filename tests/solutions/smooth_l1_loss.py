"""The losses; for mean and sum a second kernel adds up one partial sum a block."""

import torch
import triton
import triton.language as tl


@triton.jit
def _loss_kernel(x_ptr, t_ptr, y_ptr, n, beta, ADD: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    d = tl.abs(tl.load(x_ptr + at, mask=inside, other=0.0) - tl.load(t_ptr + at, mask=inside, other=0.0))
    loss = tl.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta)
    if ADD:
        tl.store(y_ptr + tl.program_id(0), tl.sum(loss, axis=0))
    else:
        tl.store(y_ptr + at, loss, mask=inside)


@triton.jit
def _total_kernel(x_ptr, y_ptr, n, divisor, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x_ptr + start + at, mask=start + at < n, other=0.0)
    tl.store(y_ptr, tl.sum(total, axis=0) / divisor)


def smooth_l1_loss(input, target, beta=1.0, reduction="mean"):
    x, t, n = input.contiguous(), target.contiguous(), input.numel()
    blocks = triton.cdiv(n, 4096)
    if reduction == "none":
        y = torch.empty_like(x)
        _loss_kernel[(blocks,)](x, t, y, n, beta, ADD=False, BLOCK=4096)
        return y
    parts = torch.empty(blocks, dtype=torch.float32, device=x.device)
    y = torch.empty((), dtype=x.dtype, device=x.device)
    _loss_kernel[(blocks,)](x, t, parts, n, beta, ADD=True, BLOCK=4096)
    _total_kernel[(1,)](parts, y, blocks, n if reduction == "mean" else 1, BLOCK=1024)
    return y
