import torch
import triton
import triton.language as tl


@triton.jit
def _step(p, g, m, v, n, step_size, b1, b2, root, eps, decay, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(p + at, mask=inside)
    grad = tl.load(g + at, mask=inside) + decay * x
    if FIRST:
        mean, square = (1 - b1) * grad, (1 - b2) * grad * grad
    else:
        mean = b1 * tl.load(m + at, mask=inside) + (1 - b1) * grad
        square = b2 * tl.load(v + at, mask=inside) + (1 - b2) * grad * grad
    tl.store(m + at, mean, mask=inside)
    tl.store(v + at, square, mask=inside)
    tl.store(p + at, x - step_size * mean / (tl.sqrt_rn(square) * root + eps), mask=inside)


class Adam:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0):
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.state = [(p, torch.empty_like(p.detach()), torch.empty_like(p.detach())) for p in params]
        self.steps = 0

    def step(self):
        self.steps += 1
        b1, b2 = self.betas
        for p, m, v in self.state:
            n = p.numel()
            _step[(triton.cdiv(n, 1024),)](
                p.detach(), p.grad, m, v, n,
                self.lr / (1 - b1**self.steps), b1, b2, (1 - b2**self.steps) ** -0.5, self.eps, self.weight_decay,
                FIRST=self.steps == 1, BLOCK=1024,
            )  # fmt: skip
