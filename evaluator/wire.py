"""Messages between the judge and a child: a JSON header and raw buffers, each with its length in front.

Never pickle: what a child sends is a stranger's. A tensor travels as its bytes, its dtype and its shape.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from tasks.spec import Call

MAX_HEADER = 1_000_000
"""Bytes of a header; the longest ones hold the samples of a timing or a traceback."""

MAX_BUFFERS = 64
"""Tensors of one message; no task returns or changes that many."""

MAX_DIMENSIONS = 64
"""Of a tensor; torch itself allows no more in most places."""

_LENGTH = struct.Struct(">I")


class WireError(Exception):
    """The other side sent something that is not a message."""


@dataclass(frozen=True)
class Message:
    """One message as it arrived. Everything in a child's message is a claim."""

    header: dict[str, Any]
    buffers: list[bytearray] = field(default_factory=list)


def encode(header: dict[str, Any], buffers: Sequence[bytes] = ()) -> list[bytes]:
    """The parts of a message, in order."""
    text = json.dumps({**header, "sizes": [len(buffer) for buffer in buffers]}).encode()
    return [_LENGTH.pack(len(text)), text, *buffers]


def parser(max_bytes: int) -> Generator[int, bytearray, Message]:
    """Reads one message: yields how many bytes it needs next, is sent exactly these, returns the message.

    Raises WireError, before anything is allocated, where the buffers are longer than `max_bytes` together.
    """
    (length,) = _LENGTH.unpack((yield _LENGTH.size))
    if length > MAX_HEADER:
        raise WireError(f"a header of {length} bytes")
    try:
        header = json.loads((yield length))
    except (ValueError, RecursionError) as error:
        raise WireError("a header that is not JSON") from error
    sizes = header.pop("sizes", None) if isinstance(header, dict) else None
    if not isinstance(sizes, list) or len(sizes) > MAX_BUFFERS or not all(map(_is_size, sizes)):
        raise WireError("a header without the sizes of its buffers")
    if sum(sizes) > max_bytes:
        raise WireError(f"{sum(sizes)} bytes where at most {max_bytes} can belong")
    buffers = []
    for size in sizes:
        buffers.append((yield size))
    return Message(header, buffers)


def read(receive: Callable[[int], bytearray]) -> Message:
    """One message through a function that gives as many bytes as it is asked for: the child's side."""
    reading = parser(MAX_HEADER)
    need = next(reading)
    while True:
        try:
            need = reading.send(receive(need))
        except StopIteration as end:
            message: Message = end.value
            return message


def pack(tensor: torch.Tensor) -> tuple[dict[str, Any], bytes]:
    """A tensor as its description and its bytes, whatever its device and strides."""
    dense = tensor.detach().cpu().resolve_conj().resolve_neg().contiguous()
    data = dense.reshape(-1).view(torch.uint8).numpy().tobytes()
    return {"dtype": str(dense.dtype).removeprefix("torch."), "shape": list(dense.shape)}, data


def unpack(description: Any, data: bytearray, device: str) -> torch.Tensor:
    """The inverse of `pack`. Raises WireError where the bytes are not of the described form."""
    if not isinstance(description, dict):
        raise WireError("a tensor without a description")
    dtype, shape = getattr(torch, str(description.get("dtype")), None), description.get("shape")
    if not isinstance(dtype, torch.dtype) or not isinstance(shape, list) or not all(map(_is_size, shape)):
        raise WireError("a tensor whose description is none")
    if len(shape) > MAX_DIMENSIONS:
        raise WireError(f"a tensor of {len(shape)} dimensions")
    elements = 1
    for size in shape:
        elements *= size
    if elements * dtype.itemsize != len(data):
        raise WireError(f"{len(data)} bytes for a tensor {dtype} of shape {shape}")
    if not data:
        try:
            return torch.empty(shape, dtype=dtype, device=device)
        except RuntimeError as error:  # its strides do not fit into 64 bits
            raise WireError(f"an empty tensor of shape {shape}") from error
    if dtype is torch.bool:  # a byte other than 0 and 1 is no bool
        return torch.frombuffer(data, dtype=torch.uint8).ne(0).reshape(shape).to(device)
    return torch.frombuffer(data, dtype=dtype).reshape(shape).to(device)


def digest(tensor: torch.Tensor) -> str:
    """A hash of a tensor's bytes, dtype and shape."""
    description, data = pack(tensor)
    return hashlib.blake2b(json.dumps(description).encode() + data, digest_size=16).hexdigest()


def input_digests(call: Call, mutates: Sequence[int]) -> list[str]:
    """Hashes of the tensors among a call's arguments that the operator leaves alone, in order."""
    arguments, keywords = call
    others = [value for position, value in enumerate(arguments) if position not in mutates]
    return [digest(tensor) for tensor in tensors([*others, *keywords.values()])]


def tensors(value: Any) -> Iterator[torch.Tensor]:
    """All tensors in nested lists, tuples and dicts."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors(item)


def _is_size(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**40
