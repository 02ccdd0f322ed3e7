"""Elimination of [A | I] with row exchanges, above and below each pivot, one matrix a program."""

import torch
import triton
import triton.language as tl


@triton.jit
def _inverse_kernel(a_ptr, n, PIVOT: tl.constexpr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    wide = 2 * n
    matrix = a_ptr + tl.program_id(0).to(tl.int64) * n * wide
    at = tl.arange(0, BLOCK)
    inside = at < wide
    for k in range(n):
        if PIVOT:
            left = (at >= k) & (at < n)
            column = tl.load(matrix + at * wide + k, mask=left, other=0.0)
            best = tl.argmax(tl.where(left, tl.abs(column), -1.0), axis=0)
            mine = tl.load(matrix + k * wide + at, mask=inside, other=0.0)
            other = tl.load(matrix + best * wide + at, mask=inside, other=0.0)
            tl.debug_barrier()
            tl.store(matrix + best * wide + at, mine, mask=inside)
            tl.debug_barrier()
            tl.store(matrix + k * wide + at, other, mask=inside)
            tl.debug_barrier()
        row = tl.load(matrix + k * wide + at, mask=inside, other=0.0) / tl.load(matrix + k * wide + k)
        tl.debug_barrier()
        tl.store(matrix + k * wide + at, row, mask=inside)
        for start in range(0, n, ROWS):
            i = start + tl.arange(0, ROWS)
            others = (i < n) & (i != k)
            factor = tl.load(matrix + i * wide + k, mask=others, other=0.0)
            mask = others[:, None] & inside[None, :]
            tile = tl.load(matrix + i[:, None] * wide + at[None, :], mask=mask, other=0.0)
            tl.debug_barrier()
            tl.store(
                matrix + i[:, None] * wide + at[None, :], tile - factor[:, None] * row[None, :], mask=mask
            )
        tl.debug_barrier()


def invert_matrix_lu(A, *, pivot=True):
    n = A.shape[-1]
    identity = torch.eye(n, dtype=torch.float64, device=A.device).expand(A.shape)
    work = torch.cat([A.to(torch.float64), identity], dim=-1).contiguous()
    block = triton.next_power_of_2(2 * n)
    _inverse_kernel[(A.numel() // (n * n),)](work, n, PIVOT=pivot, ROWS=min(16, block), BLOCK=block)
    return work[..., n:].to(A.dtype)
