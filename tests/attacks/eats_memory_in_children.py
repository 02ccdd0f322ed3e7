# outcome: out_of_memory
# says: memory
# needs: cgroup
import os
import time

import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    # Each child stays below what one process may use; together they do not.
    for _ in range(8):
        if os.fork() == 0:
            eaten = bytearray(b"x") * (400 << 20)
            time.sleep(60)
            os._exit(len(eaten))
    os.wait()
    raise MemoryError
