# outcome: limit_exceeded
# says: processes and threads
# needs: cgroup
import os

import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    while True:
        try:
            os.fork()
        except OSError:
            pass
