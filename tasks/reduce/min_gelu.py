"""The smallest value of GELU, with its place where a dimension is given."""

from tasks.fusion import fused_gelu_min
from tasks.fusion.fused_gelu_min import TASK as FUSED


def reference(input, dim=None, keepdim=False, approximate="none"):
    return fused_gelu_min.reference(input, approximate, dim, keepdim)


def without_half_the_input(input, dim=None, keepdim=False, approximate="none"):
    return fused_gelu_min.without_half_the_input(input, approximate, dim, keepdim)


TASK = FUSED.derive(
    "min_gelu",
    category="Reduce",
    signature=(
        "min_gelu(input, dim=None, keepdim=False, approximate='none') -> Tensor or (values Tensor, indices Tensor)"
    ),
    reference=reference,
    variants={"x erf(x / √2) / 2 in place of GELU": without_half_the_input},
    timing=[{"shape": [1 << p], "positive": True, "dim": 0} for p in range(12, 28)],
)
