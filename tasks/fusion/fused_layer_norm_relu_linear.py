"""A linear layer, ReLU, and layer normalisation of the result."""

from math import prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, weight, bias=None, normalized_shape=None, eps=1e-5):
    if isinstance(normalized_shape, int):
        normalized_shape = [normalized_shape]
    hidden = torch.relu(torch.nn.functional.linear(input, weight, bias))
    return torch.nn.functional.layer_norm(hidden, normalized_shape, eps=eps)


def inputs(make, batch, features, out, bias=True, form="tuple", outliers=0.0, **options):
    x, weight = make.normal(*batch, features, outliers=outliers), make.normal(out, features)
    normalized = {"tuple": (out,), "int": out, "Size": torch.Size([out])}[form]
    return [x, weight, make.normal(out) if bias else None, normalized], options


TASK = Task(
    name="fused_layer_norm_relu_linear",
    category="Fusion",
    signature=(
        "fused_layer_norm_relu_linear(input, weight, bias=None, normalized_shape=None, eps=1e-5, "
        "elementwise_affine=True) -> Tensor"
    ),
    prompt=(
        "Three steps on float32 tensors, in this order. Linear: z = input @ weight.T + bias, where `input` is "
        "(*, in), `weight` (out, in) and `bias` (out) or None. ReLU: r = max(z, 0). Layer normalisation of r over its "
        "last dimension: (r - mean) / sqrt(variance + eps), with the biased variance (divided by the number of "
        "elements). `normalized_shape` gives the size of that dimension as a number, a tuple or a torch.Size. There "
        "are no learnable parameters: `elementwise_affine` has no effect."
    ),
    formula=r"y = \mathrm{layernorm}(\max(x W^\top + b, 0))",
    reference=reference,
    inputs=inputs,
    correctness=[
        {"batch": [4], "features": 5, "out": 8, "form": "Size"},
        {"batch": [1], "features": 3, "out": 7, "bias": False},
        {"batch": [4], "features": 5, "out": 8, "form": "int", "eps": 1e-3},
        {"batch": [33], "features": 65, "out": 127, "form": "int"},
        {"batch": [64], "features": 128, "out": 256, "form": "int", "eps": 1e-5, "outliers": 1e-3},
        {"batch": [2, 3], "features": 16, "out": 32},
        {"batch": [32], "features": 1024, "out": 512, "outliers": 1e-3},
    ],
    # The two largest published sizes do not fit the footprint that is timed.
    timing=[{"batch": [32], "features": 1 << p, "out": 1 << (p - 1)} for p in range(8, 16)],
    bytes_moved=lambda batch, features, out, itemsize, bias=True: (
        itemsize * (prod(batch) * (features + out) + out * features + bias * out)
    ),
    # products and sums of the linear layer; bias, ReLU, and six for mean, variance and scaling
    flops=lambda batch, features, out: prod(batch) * out * (2 * features + 8),
)
