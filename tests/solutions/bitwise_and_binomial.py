import torch
import triton
import triton.language as tl


@triton.jit
def _draw(first, second, chances, out, n, seed, LOGITS: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    trials = tl.load(first + at, mask=inside, other=0) & tl.load(second + at, mask=inside, other=0)
    p = tl.load(chances + at, mask=inside, other=0.0)
    if LOGITS:
        p = 1 / (1 + tl.exp(-p))
    hits = tl.zeros([BLOCK], tl.float32)
    for trial in range(tl.max(trials, 0)):
        hits += ((tl.rand(seed + trial, at) < p) & (trial < trials)).to(tl.float32)
    tl.store(out + at, hits, mask=inside)


def bitwise_and_binomial(input, other, total_count, probs=None, logits=None):
    chances = logits if probs is None else probs
    out = torch.empty_like(chances)
    seed = int(torch.randint(2**62, (1,)))
    n = out.numel()
    _draw[(triton.cdiv(n, 512),)](input, other, chances, out, n, seed, LOGITS=probs is None, BLOCK=512)
    return out
