"""One program a pair of vectors: norms, scaled vectors, their product, all from two sweeps."""

import torch
import triton
import triton.language as tl


@triton.jit
def _similarity_kernel(
    a_ptr, b_ptr, y_ptr, columns, eps_similarity, eps_norm, p, P1: tl.constexpr, P2: tl.constexpr, BLOCK: tl.constexpr
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64) * columns
    at = tl.arange(0, BLOCK)
    first = tl.zeros((BLOCK,), tl.float32)
    second = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        a = tl.abs(tl.load(a_ptr + row + start + at, mask=inside, other=0.0))
        b = tl.abs(tl.load(b_ptr + row + start + at, mask=inside, other=0.0))
        if P1:
            first += a
            second += b
        elif P2:
            first += a * a
            second += b * b
        else:
            first += tl.where(a > 0, tl.exp(p * tl.log(a)), 0.0)
            second += tl.where(b > 0, tl.exp(p * tl.log(b)), 0.0)
    norm_a, norm_b = tl.sum(first, axis=0), tl.sum(second, axis=0)
    if P2:
        norm_a, norm_b = tl.sqrt(norm_a), tl.sqrt(norm_b)
    elif not P1:
        norm_a, norm_b = tl.exp(tl.log(norm_a) / p), tl.exp(tl.log(norm_b) / p)
    norm_a, norm_b = tl.maximum(norm_a, eps_norm), tl.maximum(norm_b, eps_norm)
    product = tl.zeros((BLOCK,), tl.float32)
    square_a = tl.zeros((BLOCK,), tl.float32)
    square_b = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, columns, BLOCK):
        inside = start + at < columns
        u = tl.load(a_ptr + row + start + at, mask=inside, other=0.0) / norm_a
        v = tl.load(b_ptr + row + start + at, mask=inside, other=0.0) / norm_b
        product += u * v
        square_a += u * u
        square_b += v * v
    length_a = tl.maximum(tl.sqrt(tl.sum(square_a, axis=0)), eps_similarity)
    length_b = tl.maximum(tl.sqrt(tl.sum(square_b, axis=0)), eps_similarity)
    tl.store(y_ptr + tl.program_id(0), tl.sum(product, axis=0) / (length_a * length_b))


def normalized_cosine_similarity(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12):
    a, b = torch.broadcast_tensors(x1, x2)
    a, b = a.movedim(dim, -1).contiguous(), b.movedim(dim, -1).contiguous()
    columns = a.shape[-1]
    y = torch.empty(a.shape[:-1], dtype=a.dtype, device=a.device)
    _similarity_kernel[(y.numel(),)](
        a,
        b,
        y,
        columns,
        eps_similarity,
        eps_norm,
        p_norm,
        P1=p_norm == 1,
        P2=p_norm == 2,
        BLOCK=min(2048, triton.next_power_of_2(columns)),
    )
    return y
