"""GELU on bfloat16 tensors."""

from tasks.activation.gelu import TASK as GELU

TASK = GELU.derive(
    "gelu_bf16",
    signature="gelu_bf16(input, approximate='none') -> Tensor",
    prompt=f"{GELU.prompt} Input and output are bfloat16; compute in float32 and round once.",
    dtype="bfloat16",
)
