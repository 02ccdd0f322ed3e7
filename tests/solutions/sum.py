"""Rows are added up in the accumulation dtype; the dimensions to reduce come last."""

import torch
import triton
import triton.language as tl


@triton.jit
def _sum_kernel(x_ptr, y_ptr, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), y_ptr.dtype.element_ty)
    for start in range(0, columns, BLOCK):
        x = tl.load(x_ptr + row * columns + start + at, mask=start + at < columns, other=0)
        total += x.to(y_ptr.dtype.element_ty)
    tl.store(y_ptr + row, tl.sum(total, axis=0))


def sum(input, dim, keepdim=False, dtype=None):
    dims = [d % input.dim() for d in (dim if isinstance(dim, tuple | list) else [dim])]
    kept = [d for d in range(input.dim()) if d not in dims]
    x = input.permute(*kept, *dims).contiguous()
    shape = [input.shape[d] for d in kept]
    rows = x.numel() // max(1, torch.Size([input.shape[d] for d in dims]).numel())
    columns = x.numel() // rows
    y = torch.empty(rows, dtype=dtype or input.dtype, device=input.device)
    block = min(4096, triton.next_power_of_2(columns))
    _sum_kernel[(rows,)](x, y, columns, BLOCK=block)
    if keepdim:
        shape = [1 if d in dims else input.shape[d] for d in range(input.dim())]
    return y.reshape(shape)
