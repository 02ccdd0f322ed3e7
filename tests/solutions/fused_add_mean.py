"""Sum and mean in one sweep; a long row is cut into pieces, whose sums are added in float64."""

import torch
import triton
import triton.language as tl


@triton.jit
def _add_sum_kernel(
    x_ptr, z_ptr, parts_ptr, columns, alpha, number, TENSOR: tl.constexpr, BLOCK: tl.constexpr
):
    row, piece = tl.program_id(0).to(tl.int64), tl.program_id(1)
    at = piece * BLOCK + tl.arange(0, BLOCK)
    inside = at < columns
    x = tl.load(x_ptr + row * columns + at, mask=inside, other=0.0)
    z = tl.load(z_ptr + row * columns + at, mask=inside, other=0.0) if TENSOR else number
    total = tl.sum(tl.where(inside, x + alpha * z, 0.0), axis=0)
    tl.store(parts_ptr + row * tl.num_programs(1) + piece, total)


@triton.jit
def _mean_kernel(parts_ptr, y_ptr, pieces, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float64)
    for start in range(0, pieces, BLOCK):
        total += tl.load(parts_ptr + row * pieces + start + at, mask=start + at < pieces, other=0.0)
    tl.store(y_ptr + row, tl.sum(total, axis=0) / columns)


def fused_add_mean(input, other, dim=None, alpha=1, keepdim=False, dtype=None):
    tensor = isinstance(other, torch.Tensor)
    x, z = torch.broadcast_tensors(input, other) if tensor else (input, input)
    rank = x.dim()
    if dtype is not None:
        x, z = x.to(dtype), z.to(dtype)
    x, z = (v.reshape(-1) if dim is None else v.movedim(dim, -1) for v in (x, z))
    x, z = x.contiguous(), z.contiguous()
    columns = x.shape[-1]
    rows = x.numel() // columns
    block = min(4096, triton.next_power_of_2(columns))
    pieces = triton.cdiv(columns, block)
    parts = torch.empty(rows, pieces, dtype=torch.float64, device=x.device)
    y = torch.empty(rows, dtype=x.dtype, device=x.device)
    number = 0.0 if tensor else other
    _add_sum_kernel[(rows, pieces)](x, z, parts, columns, alpha, number, TENSOR=tensor, BLOCK=block)
    _mean_kernel[(rows,)](parts, y, pieces, columns, BLOCK=min(1024, triton.next_power_of_2(pieces)))
    if dim is None:
        return y.reshape([1] * rank if keepdim else [])
    y = y.reshape(x.shape[:-1])
    return y.unsqueeze(dim) if keepdim else y
