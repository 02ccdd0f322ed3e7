"""Gaussian elimination of one matrix a program; the rows below a pivot are updated in tiles."""

import torch
import triton
import triton.language as tl


@triton.jit
def _determinant_kernel(a_ptr, y_ptr, n, PIVOT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    matrix = a_ptr + tl.program_id(0).to(tl.int64) * n * n
    at = tl.arange(0, BLOCK)
    product = tl.full((), 1.0, tl.float64)
    for k in range(n):
        if PIVOT:
            left = (at >= k) & (at < n)
            column = tl.load(matrix + at * n + k, mask=left, other=0.0)
            best = tl.argmax(tl.where(left, tl.abs(column), -1.0), axis=0)
            mine = tl.load(matrix + k * n + at, mask=at < n, other=0.0)
            other = tl.load(matrix + best * n + at, mask=at < n, other=0.0)
            tl.debug_barrier()
            tl.store(matrix + best * n + at, mine, mask=at < n)
            tl.debug_barrier()
            tl.store(matrix + k * n + at, other, mask=at < n)
            tl.debug_barrier()
            product = tl.where(best == k, product, -product)
        pivot = tl.load(matrix + k * n + k)
        product = product * pivot
        row = tl.load(matrix + k * n + at, mask=at < n, other=0.0)
        for start in range(k + 1, n, ROWS):
            i = start + tl.arange(0, ROWS)
            factor = tl.load(matrix + i * n + k, mask=i < n, other=0.0) / tl.where(pivot == 0, 1.0, pivot)
            inside = (i[:, None] < n) & (at[None, :] >= k) & (at[None, :] < n)
            tile = tl.load(matrix + i[:, None] * n + at[None, :], mask=inside, other=0.0)
            tl.debug_barrier()
            tl.store(
                matrix + i[:, None] * n + at[None, :], tile - factor[:, None] * row[None, :], mask=inside
            )
        tl.debug_barrier()
    tl.store(y_ptr + tl.program_id(0), product)


def determinant_lu(A, *, pivot=True):
    # Rounding errors of the elimination multiply up: it is done in float64.
    n = A.shape[-1]
    work = A.to(torch.float64, copy=True).contiguous()
    y = torch.empty(A.shape[:-2], dtype=torch.float64, device=A.device)
    block = triton.next_power_of_2(n)
    _determinant_kernel[(y.numel(),)](work, y, n, PIVOT=pivot, ROWS=min(16, block), BLOCK=block)
    return y.to(A.dtype)
