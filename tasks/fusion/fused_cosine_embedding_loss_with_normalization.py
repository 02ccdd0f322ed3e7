"""Cosine embedding loss of rows that were normalised."""

from tasks.lazy import torch
from tasks.spec import Task


def reference(input1, input2, target, margin=0, reduction="mean"):
    normalize = torch.nn.functional.normalize
    return torch.nn.functional.cosine_embedding_loss(
        normalize(input1, dim=1), normalize(input2, dim=1), target, margin=margin, reduction=reduction
    )


def margin_as_a_floor(input1, input2, target, margin=0, reduction="mean"):
    normalize = torch.nn.functional.normalize
    cosine = (normalize(input1, dim=1) * normalize(input2, dim=1)).sum(dim=1)
    loss = torch.relu(1 - cosine * target.to(cosine.dtype))
    if margin > 0:
        loss = torch.maximum(loss, margin - cosine)
    return {"mean": loss.mean, "sum": loss.sum, "none": lambda: loss}[reduction]()


def inputs(make, shape, kind="int64", outliers=0.0, level=0.0, **options):
    first = make.normal(*shape, outliers=outliers)
    # Rows are related, each in its own measure: their cosines are spread out.
    related = make.uniform(shape[0], 1, low=-1.5, high=1.5) + level * make.uniform(1, low=0.5, high=1.5)
    second = related * first + make.normal(*shape)
    target = 2 * make.integers(shape[0], low=0, high=2) - 1
    return [first, second, target.to(getattr(torch, kind))], options


def bytes_moved(shape, itemsize, kind="int64", reduction="mean"):
    """Both inputs, the targets and the loss."""
    targets = shape[0] * (8 if kind == "int64" else 4)
    return 2 * shape[0] * shape[1] * itemsize + targets + (shape[0] if reduction == "none" else 1) * itemsize


TASK = Task(
    name="fused_cosine_embedding_loss_with_normalization",
    category="Fusion",
    signature=(
        "fused_cosine_embedding_loss_with_normalization(input1, input2, target, margin=0, reduction='mean') -> Tensor"
    ),
    prompt=(
        "`input1` and `input2` are float32 (N, D). Normalise their rows in the 2-norm (divide by max(‖row‖, 1e-12)) "
        "and let c be the cosine of each pair of rows, the sum of their products. `target` (N) holds 1 or -1, as int64 "
        "or float32: the loss of a pair is 1 - c where it is 1, and max(0, c - margin) where it is -1. Return the "
        "losses (N) with reduction='none', their sum with 'sum', their mean with 'mean' (the default); the last two "
        "without dimensions."
    ),
    formula=r"\ell = 1 - c \ (t = 1),\quad \max(0, c - m) \ (t = -1)",
    reference=reference,
    inputs=inputs,
    # The published code takes 1 + c where the target is -1, and margin - c as a floor of every loss.
    variants={"1 + c for the target -1, margin - c as a floor": margin_as_a_floor},
    correctness=[
        {"shape": [3, 5]},
        {"shape": [1, 2]},
        {"shape": [3, 5], "margin": 0.5},
        {"shape": [3, 5], "reduction": "sum"},
        {"shape": [3, 5], "reduction": "none"},
        {"shape": [64, 17], "reduction": "none", "margin": 0.5},
        {"shape": [128, 256], "margin": 0.5, "outliers": 1e-2},
        {"shape": [129, 255], "kind": "float32", "outliers": 1e-3},
        {"shape": [4099, 256]},
    ],
    timing=[{"shape": [1 << p, 256], "kind": "float32", "level": 1.0} for p in range(12, 21)],
    bytes_moved=bytes_moved,
    flops=lambda shape: 6 * shape[0] * shape[1],  # two norms and a product, two operations an element each
)
