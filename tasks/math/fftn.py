"""Discrete Fourier transform over several dimensions."""

from math import log2, prod

from tasks.lazy import torch
from tasks.spec import Task


def reference(input, s=None, dim=None, norm=None):
    return torch.fft.fftn(input, s, dim, norm)


def inputs(make, shape, complex=False, outliers=0.0, **options):
    for name in ("s", "dim"):
        if isinstance(options.get(name), list):
            options[name] = tuple(options[name])
    real = make.normal(*shape, dtype="float32", outliers=outliers)
    return [torch.complex(real, make.normal(*shape, dtype="float32")) if complex else real], options


def flops(shape, s=None, dim=None):
    """5 n log2 n for n elements, as FFTW's authors count a complex transform."""
    elements = prod(s or shape)
    return int(5 * elements * log2(max(2, elements)))


TASK = Task(
    name="fftn",
    category="Math",
    signature="fftn(input, s=None, dim=None, norm=None) -> Tensor",
    prompt=(
        "Discrete Fourier transform of `input`, float32 or complex64 of any shape, over the dimensions `dim` (a tuple; "
        "None: all, or the last len(s) if `s` is given): out[k] = sum over j of input[j] * exp(-2 pi i j k / n) along "
        "each of them, with n the size of the dimension. `s`, a tuple, gives sizes to which these dimensions are first "
        "cut or padded with zeros. `norm` None or 'backward' leaves the sums as they are, 'ortho' divides them by the "
        "square root of the product of the sizes, 'forward' by that product. The result is complex64."
    ),
    formula=r"y_k = \sum_j x_j\, e^{-2 \pi i\, jk/n}",
    reference=reference,
    inputs=inputs,
    dtype="complex64",
    correctness=[
        {"shape": [4, 4]},
        {"shape": [1]},
        {"shape": [4, 4], "s": [2, 2]},
        {"shape": [4, 4], "dim": [0, 1]},
        {"shape": [4, 4], "norm": "ortho"},
        {"shape": [16, 16], "outliers": 1e-2},
        {"shape": [16, 16], "s": [8, 8]},
        {"shape": [16, 16], "dim": [0, 1], "norm": "ortho"},
        {"shape": [4096], "complex": True},
        {"shape": [8, 4], "dim": [0], "norm": "forward", "complex": True},
    ],
    timing=[
        {"shape": [1 << p], "complex": True, "s": None, "dim": None, "norm": None} for p in range(12, 24)
    ],
    bytes_moved=lambda shape, itemsize, complex=False, s=None: (
        prod(shape) * (8 if complex else 4) + prod(s or shape) * itemsize
    ),
    flops=flops,
)
