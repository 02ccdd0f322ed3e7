# outcome: out_of_memory
# says: memory
import torch
import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    eaten = []
    while True:
        eaten.append(torch.ones(1 << 24))
