"""Two sweeps over each row: the mean, then the squares around it."""

import torch
import triton
import triton.language as tl


@triton.jit
def _std_kernel(x_ptr, y_ptr, columns, correction, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        total += tl.load(x_ptr + row + start + at, mask=start + at < columns, other=0.0)
    mean = tl.sum(total, axis=0) / columns
    squares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        x = tl.load(x_ptr + row + start + at, mask=inside, other=0.0)
        around = tl.where(inside, x - mean, 0.0)
        squares += around * around
    tl.store(y_ptr + tl.program_id(0), tl.sqrt(tl.sum(squares, axis=0) / (columns - correction)))


def std(input, dim=None, correction=1, keepdim=False):
    dims = range(input.dim()) if dim is None else dim if isinstance(dim, tuple | list) else [dim]
    dims = [d % input.dim() for d in dims]
    kept = [d for d in range(input.dim()) if d not in dims]
    x = input.permute(*kept, *dims).contiguous()
    rows = torch.Size([input.shape[d] for d in kept]).numel()
    columns = x.numel() // rows
    y = torch.empty(rows, dtype=input.dtype, device=input.device)
    block = min(4096, triton.next_power_of_2(columns))
    _std_kernel[(rows,)](x, y, columns, correction, BLOCK=block)
    if keepdim:
        return y.reshape([1 if d in dims else input.shape[d] for d in range(input.dim())])
    return y.reshape([input.shape[d] for d in kept])
