"""Modified Gram and Schmidt on [A | b], twice for orthogonality, then back substitution; float64 inside."""

import torch
import triton
import triton.language as tl


@triton.jit
def _qr_solve_kernel(w_ptr, r_ptr, m, n, wide, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    for k in range(n):
        # Again for the part that rounding left along the earlier columns.
        for again in range(2):
            v = tl.load(w_ptr + i * wide + k, mask=i < m, other=0.0)
            mask = (i[:, None] < m) & (j[None, :] < k)
            q = tl.load(w_ptr + i[:, None] * wide + j[None, :], mask=mask, other=0.0)
            along = tl.sum(q * v[:, None], axis=0)
            v = v - tl.sum(q * along[None, :], axis=1)
            before = tl.load(r_ptr + j * wide + k, mask=j < k, other=0.0)
            tl.store(r_ptr + j * wide + k, tl.where(again == 0, along, before + along), mask=j < k)
            tl.store(w_ptr + i * wide + k, v, mask=i < m)
            tl.debug_barrier()
        v = tl.load(w_ptr + i * wide + k, mask=i < m, other=0.0)
        norm = tl.sqrt(tl.sum(v * v, axis=0))
        tl.debug_barrier()
        tl.store(w_ptr + i * wide + k, v / norm, mask=i < m)
        tl.store(r_ptr + k * wide + k, norm)
        tl.debug_barrier()
    for k in range(n, wide):
        b = tl.load(w_ptr + i * wide + k, mask=i < m, other=0.0)
        mask = (i[:, None] < m) & (j[None, :] < n)
        q = tl.load(w_ptr + i[:, None] * wide + j[None, :], mask=mask, other=0.0)
        tl.store(r_ptr + j * wide + k, tl.sum(q * b[:, None], axis=0), mask=j < n)
    tl.debug_barrier()
    for back in range(n):
        k = n - 1 - back
        pivot = tl.load(r_ptr + k * wide + k)
        for right in range(n, wide):
            x = tl.load(r_ptr + k * wide + right) / pivot
            above = tl.load(r_ptr + j * wide + right, mask=j < k, other=0.0)
            column = tl.load(r_ptr + j * wide + k, mask=j < k, other=0.0)
            tl.debug_barrier()
            tl.store(r_ptr + j * wide + right, above - column * x, mask=j < k)
            tl.store(r_ptr + k * wide + right, x)
        tl.debug_barrier()


def fused_qr_solve(A, b):
    m, n = A.shape
    work = torch.cat([A, b], dim=1).to(torch.float64).contiguous()
    wide = work.shape[1]
    result = torch.zeros(n, wide, dtype=torch.float64, device=A.device)
    _qr_solve_kernel[(1,)](
        work, result, m, n, wide, ROWS=triton.next_power_of_2(m), COLUMNS=triton.next_power_of_2(n)
    )
    return result[:, n:].to(A.dtype)
