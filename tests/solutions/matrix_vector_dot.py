"""One program a row of A; another adds up the products with x."""

import torch
import triton
import triton.language as tl


@triton.jit
def _row_kernel(a_ptr, x_ptr, y_ptr, n, row_stride, alpha, beta, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        inside = start + at < n
        a = tl.load(a_ptr + row * row_stride + start + at, mask=inside, other=0.0).to(tl.float32)
        total += a * tl.load(x_ptr + start + at, mask=inside, other=0.0).to(tl.float32)
    y = tl.load(y_ptr + row).to(tl.float32)
    tl.store(y_ptr + row, alpha * tl.sum(total, axis=0) + beta * y)


@triton.jit
def _dot_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        inside = start + at < n
        x = tl.load(x_ptr + start + at, mask=inside, other=0.0).to(tl.float32)
        total += x * tl.load(y_ptr + start + at, mask=inside, other=0.0).to(tl.float32)
    tl.store(out_ptr, tl.sum(total, axis=0))


def matrix_vector_dot(A, x, y, alpha, beta):
    A, n = A.contiguous(), x.numel()
    out = torch.empty((), dtype=x.dtype, device=x.device)
    block = min(1024, triton.next_power_of_2(n))
    _row_kernel[(n,)](A, x, y, n, A.stride(0), alpha, beta, BLOCK=block)
    _dot_kernel[(1,)](x, y, out, n, BLOCK=block)
    return out
