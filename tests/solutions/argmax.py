"""The largest value of each row with its position; the block's best is carried along."""

import torch
import triton
import triton.language as tl


@triton.jit
def _argmax_kernel(x_ptr, y_ptr, columns, SMALLEST: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    kind: tl.constexpr = tl.int64 if x_ptr.dtype.element_ty.is_int() else tl.float32
    best = tl.load(x_ptr + row * columns).to(kind)
    position = tl.zeros((), tl.int64)
    for start in range(0, columns, BLOCK):
        x = tl.load(x_ptr + row * columns + start + at, mask=start + at < columns, other=SMALLEST)
        x = x.to(kind)
        top = tl.max(x, axis=0)
        where = start + tl.argmax(x, axis=0).to(tl.int64)
        position = tl.where(top > best, where, position)
        best = tl.maximum(best, top)
    tl.store(y_ptr + row, position)


def argmax(input, dim, keepdim=False):
    x = input.reshape(-1) if dim is None else input.movedim(dim, -1)
    x = x.contiguous()
    columns = x.shape[-1]
    rows = x.numel() // columns
    y = torch.empty(rows, dtype=torch.int64, device=input.device)
    smallest = float("-inf") if x.is_floating_point() else torch.iinfo(x.dtype).min
    block = min(4096, triton.next_power_of_2(columns))
    _argmax_kernel[(rows,)](x, y, columns, SMALLEST=smallest, BLOCK=block)
    if dim is None:
        return y.reshape([1] * input.dim() if keepdim else [])
    y = y.reshape(x.shape[:-1])
    return y.unsqueeze(dim) if keepdim else y
