"""A step of Lion in one pass over three tensors."""

import triton
import triton.language as tl


@triton.jit
def _lion_kernel(p_ptr, g_ptr, m_ptr, n, lr, beta1, beta2, decay, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    p = tl.load(p_ptr + at, mask=inside)
    g = tl.load(g_ptr + at, mask=inside)
    m = tl.load(m_ptr + at, mask=inside)
    update = m * beta1 + g * (1 - beta1)
    sign = tl.where(update > 0, 1.0, tl.where(update < 0, -1.0, 0.0))
    tl.store(p_ptr + at, p * (1 - lr * decay) - lr * sign, mask=inside)
    tl.store(m_ptr + at, m * beta2 + g * (1 - beta2), mask=inside)


def lion_step(param, grad, exp_avg, lr=1e-4, beta1=0.9, beta2=0.99, weight_decay=0.0):
    n = param.numel()
    grid = (triton.cdiv(n, 4096),)
    _lion_kernel[grid](param, grad, exp_avg, n, lr, beta1, beta2, weight_decay, BLOCK=4096)
    return param, exp_avg
