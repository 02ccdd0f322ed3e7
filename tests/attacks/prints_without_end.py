# outcome: limit_exceeded
# says: printed more than
import triton


@triton.jit
def kernel(x_ptr):
    pass


def gelu(input, approximate="none"):
    while True:
        print("A line that is printed again and again." * 100)
