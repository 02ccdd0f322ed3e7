"""GELU on float16 tensors."""

from tasks.activation.gelu import TASK as GELU

TASK = GELU.derive(
    "gelu_fp16",
    signature="gelu_fp16(input, approximate='none') -> Tensor",
    prompt=f"{GELU.prompt} Input and output are float16; compute in float32 and round once.",
    dtype="float16",
)
