"""Well-conditioned matrices at every size, for several tasks.

They are made element by element: what a matrix product gives depends on settings that a submission can change.
"""

from tasks.lazy import torch

_PARTS = {"complex64": "float32", "complex128": "float64"}


def regular(make, *shape, dtype=None, outliers=0.0, exchanged=True):
    """Full rank, singular values within about [0.5, 1.5].

    With its rows exchanged leading elements are small, else no leading minor is.
    """
    A = make.normal(*shape, std=0.25 / max(shape[-2:]) ** 0.5, outliers=outliers, dtype=dtype)
    A.diagonal(dim1=-2, dim2=-1).add_(3.0 if outliers else 1.0)
    return A[..., make.permutation(shape[-2]), :].contiguous() if exchanged else A


def symmetric(make, *shape, dtype=None, outliers=0.0, indefinite=False):
    """Symmetric or Hermitian; eigenvalues within about [0.3, 1.7], or that and its negative if indefinite.

    With outliers a share of rows and columns is 20 times as large.
    """
    noise = make.normal(*shape, std=0.5 / shape[-1] ** 0.5, dtype=_PARTS.get(dtype, dtype))
    if dtype in _PARTS:
        noise = (
            torch.complex(noise, make.normal(*shape, std=0.5 / shape[-1] ** 0.5, dtype=_PARTS[dtype]))
            / 2**0.5
        )
    A = (noise + noise.mH) / 2
    if indefinite:
        _add_exchanges(make, A)
    else:
        A.diagonal(dim1=-2, dim2=-1).add_(1.0)
    if outliers:
        scale = make.normal(*shape[:-1], mean=1.0, std=0.1, outliers=outliers, dtype=_PARTS.get(dtype, dtype))
        A = A * scale.unsqueeze(-1) * scale.unsqueeze(-2)
    return A


def _add_exchanges(make, A):
    """Adds a matrix that exchanges half of the indices in pairs and changes the sign of some others.

    Its eigenvalues are 1 and -1; where it exchanges, the diagonal is no pivot.
    """
    order = make.permutation(A.shape[-1])
    exchanged = -(-A.shape[-1] // 4) * 2 if A.shape[-1] > 1 else 0
    one, other, rest = order[0:exchanged:2], order[1:exchanged:2], order[exchanged:]
    A[..., one, other] += 1.0
    A[..., other, one] += 1.0
    A[..., rest[0::2], rest[0::2]] += 1.0
    A[..., rest[1::2], rest[1::2]] -= 1.0


def triangular(make, *shape, upper=False, dtype=None, outliers=0.0):
    """Triangular, singular values within about [0.4, 1.6]; zeros in the other triangle."""
    A = make.normal(*shape, std=0.25 / shape[-1] ** 0.5, outliers=outliers, dtype=dtype)
    A = A.triu_() if upper else A.tril_()
    diagonal = make.uniform(*shape[:-1], low=0.7, high=1.3, dtype=dtype)
    A.diagonal(dim1=-2, dim2=-1).copy_(diagonal + (2.0 if outliers else 0.0))
    return A
