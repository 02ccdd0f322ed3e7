"""A step of SGD in one pass; without momentum the buffer is neither read nor written."""

import triton
import triton.language as tl


@triton.jit
def _sgd_kernel(
    p_ptr, g_ptr, b_ptr, n, lr, momentum, decay, damped,
    MOMENTUM: tl.constexpr, NESTEROV: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    p = tl.load(p_ptr + at, mask=inside)
    d = tl.load(g_ptr + at, mask=inside) + decay * p
    if MOMENTUM:
        b = momentum * tl.load(b_ptr + at, mask=inside) + damped * d
        tl.store(b_ptr + at, b, mask=inside)
        d = d + momentum * b if NESTEROV else b
    tl.store(p_ptr + at, p - lr * d, mask=inside)


def sgd_step(
    param, grad, momentum_buffer=None, lr=0.1, momentum=0.9, weight_decay=0.0, dampening=0.0, nesterov=False
):
    n = param.numel()
    _sgd_kernel[(triton.cdiv(n, 4096),)](
        param,
        grad,
        momentum_buffer,
        n,
        lr,
        momentum,
        weight_decay,
        1 - dampening,
        MOMENTUM=momentum > 0,
        NESTEROV=nesterov,
        BLOCK=4096,
    )
    return param, momentum_buffer
