"""Makes a CPU process answer for CUDA, so that Triton's interpreter runs kernels as they were written.

`install()` comes first in a process, before triton and the submission are imported. From then on a tensor
says that it is on "cuda:0", unless it was made without a device: that is host memory on a GPU machine, and
launching a kernel on it fails here as it does there. What the interpreter has no notion of stays unseen:
errors that only the GPU compiler finds, limits of registers and shared memory, races between programs,
and the rounding of tf32.

`unsupported()` tells what the interpreter cannot run from what the kernel does wrong.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import math
import os
import sys
import time
import traceback
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

_CUDA = torch.device("cuda", 0)
_CPU = torch.device("cpu")
_CAPABILITY = (8, 0)  # of an A100: kernels that ask get their common path
_PROCESSORS = 108


def install() -> None:
    """Makes this process answer for CUDA and interpret Triton kernels, for good.

    Raises RuntimeError if triton was imported without TRITON_INTERPRET=1: its functions are compiled then.
    """
    if "triton" in sys.modules and os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("triton was imported before the interpreter was chosen")
    os.environ["TRITON_INTERPRET"] = "1"
    _Mode().__enter__()
    _answer_for_torch_cuda()
    _answer_for_the_driver()
    _patch_the_interpreter()
    _serve_libdevice()
    np.seterr(all="ignore")  # NaN and infinity are results like others on a GPU


def unsupported(error: BaseException) -> str | None:
    """Why the interpreter cannot run the kernel that raised `error`, or None if the kernel is at fault."""
    cause: BaseException | None = error
    while cause is not None:
        for recognises in _LIMITS:
            if sentence := recognises(cause):
                return sentence
        cause = cause.__cause__ or cause.__context__
    return None


# torch: devices of tensors


class _Mode(TorchFunctionMode):  # type: ignore[misc]
    """Runs every torch function on the CPU while tensors say that they are on the GPU.

    A tensor that a GPU machine would have in host memory carries the mark `_on_host`.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if (answer := _ATTRIBUTES.get(func)) is not None:
            return answer(*args)
        if (move := _MOVES.get(func)) is not None:
            return move(*args, **(kwargs or {}))
        kwargs = dict(kwargs or {})
        asked = kwargs.get("device")
        if asked is not None:
            kwargs["device"] = _CPU
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        result = func(*args, **kwargs)
        if asked is None and _made_on_host(func, args, kwargs):
            _mark(result)
        return result


def _on_host(tensor: Any) -> bool:
    return getattr(tensor, "_on_host", False)


def _device(tensor: torch.Tensor) -> torch.device:
    return _CPU if _on_host(tensor) else _CUDA


_ATTRIBUTES: Mapping[Any, Callable[..., Any]] = {
    torch.Tensor.device.__get__: lambda tensor, *_: _device(tensor),
    torch.Tensor.is_cuda.__get__: lambda tensor, *_: not _on_host(tensor),
    torch.Tensor.is_cpu.__get__: lambda tensor, *_: _on_host(tensor),
    torch.Tensor.get_device: lambda tensor: -1 if _on_host(tensor) else 0,
    torch.Tensor.is_pinned: lambda tensor, *_: False,
    torch.Tensor.pin_memory: lambda tensor, *_: tensor,
    torch.Tensor.record_stream: lambda tensor, stream: None,
}


def _move_to(tensor: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    """`Tensor.to` in its three forms: (device, dtype), (dtype), (other)."""
    values = list(args)
    target = kwargs.pop("device", None)
    if values and isinstance(values[0], torch.Tensor):
        other = values.pop(0)
        target, kwargs["dtype"] = _device(other), other.dtype
    elif values and _is_device(values[0]):
        target = values.pop(0)
    moved = torch.Tensor.to(tensor, *values, **kwargs)
    return _placed(moved, tensor, _device(tensor) if target is None else torch.device(target))


def _placed(moved: torch.Tensor, source: torch.Tensor, device: torch.device) -> torch.Tensor:
    """`moved`, made from `source`, on the device that was asked for: a copy where the device changes."""
    to_host = device.type == "cpu"
    if to_host == _on_host(source):
        return _mark(moved) if to_host else moved
    moved = moved.clone() if moved is source else moved
    if to_host:
        return _mark(moved)
    moved.__dict__.pop("_on_host", None)
    return moved


def _is_device(value: Any) -> bool:
    return isinstance(value, torch.device | str) or (isinstance(value, int) and not isinstance(value, bool))


_MOVES: Mapping[Any, Callable[..., Any]] = {
    torch.Tensor.to: _move_to,
    torch.Tensor.cuda: lambda tensor, *_, **__: _placed(tensor, tensor, _CUDA),
    torch.Tensor.cpu: lambda tensor, *_, **__: _placed(tensor, tensor, _CPU),
}

_HOST_FACTORIES = frozenset(
    getattr(torch, name)
    for name in (
        "arange", "as_tensor", "empty", "empty_strided", "eye", "from_numpy", "full", "linspace", "logspace",
        "ones", "rand", "randint", "randn", "randperm", "tensor", "tril_indices", "triu_indices", "zeros",
    )
)  # fmt: skip


def _made_on_host(func: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """A factory that was told no device makes host memory; anything else gives what its arguments are."""
    tensors = list(_tensors((args, tuple(kwargs.values()))))
    return all(map(_on_host, tensors)) if tensors else func in _HOST_FACTORIES


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, tuple | list):
        for item in value:
            yield from _tensors(item)


def _mark(result: Any) -> Any:
    for tensor in _tensors(result):
        tensor._on_host = True
    return result


# torch.cuda


class _Generator(torch.Generator):  # type: ignore[misc]
    """A generator for device "cuda" that draws on the CPU."""

    def __new__(cls, device: Any = "cpu") -> _Generator:
        made: _Generator = super().__new__(cls, device="cpu")
        made._asked = torch.device(device)
        return made

    _asked: torch.device

    @property
    def device(self) -> torch.device:
        return _CUDA if self._asked.type == "cuda" else self._asked


class _Stream:
    """All work is done when a call returns: there is nothing to order or to wait for."""

    cuda_stream = 0
    device = _CUDA

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    def synchronize(self) -> None:
        pass

    wait_event = wait_stream = record_event = lambda self, *args: None

    def query(self) -> bool:
        return True

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *args: object) -> None:
        pass


class _Event:
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._time = 0.0

    def record(self, stream: Any = None) -> None:
        self._time = time.perf_counter()

    def synchronize(self) -> None:
        pass

    wait = lambda self, *args: None  # noqa: E731

    def query(self) -> bool:
        return True

    def elapsed_time(self, end: _Event) -> float:
        return (end._time - self._time) * 1000


def _answer_for_torch_cuda() -> None:
    properties = types.SimpleNamespace(
        name="Triton interpreter",
        major=_CAPABILITY[0],
        minor=_CAPABILITY[1],
        total_memory=40 << 30,
        multi_processor_count=_PROCESSORS,
        warp_size=32,
        max_threads_per_multi_processor=2048,
        regs_per_multiprocessor=65536,
        shared_memory_per_block=48 << 10,
        shared_memory_per_block_optin=163 << 10,
        shared_memory_per_multiprocessor=164 << 10,
        L2_cache_size=40 << 20,
        is_integrated=False,
    )

    @contextlib.contextmanager
    def nothing(*args: Any, **kwargs: Any) -> Iterator[None]:
        yield

    answers = {
        "is_available": True,
        "is_initialized": True,
        "is_bf16_supported": True,
        "device_count": 1,
        "current_device": 0,
        "get_device_name": properties.name,
        "get_device_capability": _CAPABILITY,
        "get_device_properties": properties,
        "get_arch_list": ["sm_80"],
        "memory_allocated": 0,
        "max_memory_allocated": 0,
        "memory_reserved": 0,
        "mem_get_info": (40 << 30, 40 << 30),
    }
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *args, _answer=answer, **kwargs: _answer)
    for name in (
        "_lazy_init", "init", "synchronize", "empty_cache", "set_device", "set_stream", "ipc_collect",
        "reset_peak_memory_stats", "reset_max_memory_allocated",
    ):  # fmt: skip
        setattr(torch.cuda, name, lambda *args, **kwargs: None)
    for name in ("current_stream", "default_stream", "Stream"):
        setattr(torch.cuda, name, _Stream)
    for name in ("device", "device_of", "stream"):
        setattr(torch.cuda, name, nothing)
    for name in ("manual_seed", "manual_seed_all"):
        setattr(torch.cuda, name, torch.default_generator.manual_seed)
    torch.cuda.Event = _Event
    torch.Generator = _Generator


# triton


class _Driver:
    """What kernels and triton itself ask the driver for. Anything else has no answer here."""

    def __init__(self) -> None:
        self.utils = types.SimpleNamespace(get_device_properties=lambda device: dict(_DEVICE_PROPERTIES))

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_active_torch_device(self) -> torch.device:
        return _CUDA

    def get_device_interface(self) -> Any:
        return torch.cuda

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return _CAPABILITY

    def get_current_target(self) -> Any:
        target = importlib.import_module("triton.backends.compiler").GPUTarget
        return target("cuda", _CAPABILITY[0] * 10 + _CAPABILITY[1], 32)

    def __getattr__(self, name: str) -> Any:
        raise NotImplementedError(f"the GPU driver ({name})")


_DEVICE_PROPERTIES = {
    "multiprocessor_count": _PROCESSORS,
    "max_shared_mem": 163 << 10,
    "max_num_regs": 65536,
    "warpSize": 32,
    "sm_clock_rate": 1_410_000,
    "mem_clock_rate": 1_215_000,
    "mem_bus_width": 5120,
}


def _answer_for_the_driver() -> None:
    runtime = importlib.import_module("triton.runtime")
    runtime.driver.set_active(_Driver())
    # Without times to compare the first of the configurations is as good as any.
    autotuner = importlib.import_module("triton.runtime.autotuner").Autotuner
    autotuner._bench = lambda self, *args, **kwargs: [0.0, 0.0, 0.0]


def _patch_the_interpreter() -> None:
    interpreter = importlib.import_module("triton.runtime.interpreter")
    run = interpreter.InterpretedFunction.run

    @functools.wraps(run)
    def launch(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not kwargs.get("warmup"):
            _refuse_host_memory(self.arg_names, args, kwargs)
        return run(self, *args, **kwargs | {"grid": _as_tuple(kwargs["grid"])})

    interpreter.InterpretedFunction.run = launch
    _mend_bfloat16(interpreter)
    if hasattr(interpreter, "_LangPatchScope"):
        _patch_the_language_once(interpreter)


def _as_tuple(grid: Any) -> Any:
    """A GPU launch takes a list too."""
    if callable(grid):
        return lambda arguments: _as_tuple(grid(arguments))
    return tuple(grid) if isinstance(grid, list) else grid


def _refuse_host_memory(names: list[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
        if isinstance(value, torch.Tensor) and _on_host(value):
            raise ValueError(f"Pointer argument {name!r} cannot be accessed from Triton (cpu tensor?)")


def _patch_the_language_once(interpreter: Any) -> None:
    """Replaces triton.language for good.

    The interpreter does so at every launch and every call of a device function, which takes most of the time
    of a small kernel; nothing in this process needs the original.
    """
    language = importlib.import_module("triton.language")
    names = {"tl": language, "core": language.core}
    interpreter._patch_lang(types.FunctionType((lambda: None).__code__, names))
    interpreter._patch_lang = lambda fn: interpreter._LangPatchScope()


# bfloat16


def _mend_bfloat16(interpreter: Any) -> None:
    """Computes in float32 and rounds to nearest even, as a GPU does.

    The interpreter keeps bfloat16 as uint16, adds and compares the bit patterns as integers, and truncates.
    """
    builder, handle = interpreter.InterpreterBuilder, interpreter.TensorHandle
    language = importlib.import_module("triton.language")

    def is_bfloat16(value: Any) -> bool:
        return isinstance(value, handle) and value.data.dtype == np.uint16 and value.dtype.scalar.is_bf16()

    def widen(value: Any) -> Any:
        if not is_bfloat16(value):
            return value
        return handle((value.data.astype(np.uint32) << 16).view(np.float32), language.float32)

    def narrow(value: Any) -> Any:
        if value.data.dtype != np.float32:  # a comparison
            return value
        bits = np.ascontiguousarray(value.data).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        quiet = np.where(np.isnan(value.data), (bits >> 16) | 0x40, rounded)
        return handle(quiet.astype(np.uint16).reshape(value.data.shape), language.bfloat16)

    def widened(method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def run(self: Any, *arguments: Any) -> Any:
            if not any(map(is_bfloat16, arguments)):
                return method(self, *arguments)
            return narrow(method(self, *map(widen, arguments)))

        return run

    for name in ("binary_op", "unary_op", "ternary_op", "create_fma"):
        setattr(builder, name, widened(getattr(builder, name)))

    cast, convert, atomic = builder.cast_impl, builder.create_fp_to_fp, builder.create_atomic_rmw
    dot = builder.create_dot

    def cast_impl(self: Any, source: Any, target: Any) -> Any:
        wide = widen(source)
        if target.scalar.is_bf16():
            return source if is_bfloat16(source) else narrow(cast(self, wide, language.float32))
        return wide if is_bfloat16(source) and target.scalar.is_fp32() else cast(self, wide, target)

    def create_fp_to_fp(self: Any, source: Any, target: Any, rounding: Any) -> Any:
        nearest = rounding == interpreter._ir.ROUNDING_MODE.RTNE
        if target.scalar.is_bf16() and nearest:
            return cast_impl(self, source, target)
        return convert(self, source, target, rounding)

    def create_atomic_rmw(self: Any, operation: Any, pointer: Any, value: Any, *rest: Any) -> Any:
        if is_bfloat16(value):
            raise NotImplementedError("atomic operations on bfloat16")
        return atomic(self, operation, pointer, value, *rest)

    def create_dot(self: Any, one: Any, other: Any, *rest: Any) -> Any:
        return dot(self, widen(one), widen(other), *rest)  # the sum is a float32 already

    builder.cast_impl, builder.create_fp_to_fp = cast_impl, create_fp_to_fp
    builder.create_dot = create_dot
    builder.create_atomic_rmw = create_atomic_rmw

    reductions = interpreter.ReduceScanOpInterface
    apply = reductions.apply

    def retyped(tensor: Any, data: Any, element: Any) -> Any:
        block = tensor.type.is_block()
        return language.core.tensor(data, tensor.type.with_element_ty(element) if block else element)

    def apply_wide(self: Any, values: Any) -> Any:
        if not isinstance(values, tuple) or not any(value.dtype.is_bf16() for value in values):
            return apply(self, values)
        wide = (retyped(v, widen(v.handle), language.float32) if v.dtype.is_bf16() else v for v in values)
        results = apply(self, tuple(wide))
        return tuple(
            retyped(result, narrow(result.handle), language.bfloat16) if value.dtype.is_bf16() else result
            for value, result in zip(values, results, strict=False)
        )

    reductions.apply = apply_wide


# libdevice


def _torch_function(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    return lambda *arrays: function(*map(torch.from_numpy, map(np.ascontiguousarray, arrays))).numpy()


def _gamma(x: float) -> float:
    try:
        return math.gamma(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan  # at the poles


_LIBDEVICE: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(np, name) for name in (
        "abs", "floor", "ceil", "trunc", "exp2", "sqrt", "rint", "isnan", "isinf", "signbit", "copysign",
        "nextafter", "sin", "cos", "tan", "log2", "exp", "cosh", "sinh", "tanh", "log", "log10", "log1p",
        "expm1", "hypot", "cbrt", "fmod", "power",
    )},
    "fabs": np.abs,
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "atan2": np.arctan2,
    "pow": np.power, "fast_pow": np.power, "fast_exp": np.exp, "fast_log": np.log, "fast_log2": np.log2,
    "fast_log10": np.log10, "fast_sin": np.sin, "fast_cos": np.cos, "fast_tan": np.tan,
    "fast_fdivide": np.divide, "fdividef": np.divide,
    "exp10": lambda x: np.power(x.dtype.type(10), x), "fast_exp10": lambda x: np.power(x.dtype.type(10), x),
    "rsqrt": lambda x: 1 / np.sqrt(x), "rcbrt": lambda x: 1 / np.cbrt(x),
    "sinpi": lambda x: np.sin(np.pi * x), "cospi": lambda x: np.cos(np.pi * x),
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), "nearbyint": np.rint,
    "finite": np.isfinite, "isfinited": np.isfinite, "remainder": lambda x, y: x - y * np.rint(x / y),
    "fma": lambda x, y, z: x * y + z, "fdim": lambda x, y: np.maximum(x - y, 0),
    "saturate": lambda x: np.clip(x, 0, 1),
    "fmax": np.fmax, "fmin": np.fmin, "ldexp": np.ldexp, "scalbn": np.ldexp,
    "erf": _torch_function(torch.erf), "erfc": _torch_function(torch.erfc),
    "erfinv": _torch_function(torch.erfinv),
    "erfcx": _torch_function(torch.special.erfcx), "lgamma": _torch_function(torch.lgamma),
    "tgamma": np.vectorize(lambda x: _gamma(float(x)), otypes=[float]),
    "normcdf": _torch_function(torch.special.ndtr), "normcdfinv": _torch_function(torch.special.ndtri),
    "j0": _torch_function(torch.special.bessel_j0), "j1": _torch_function(torch.special.bessel_j1),
    "y0": _torch_function(torch.special.bessel_y0), "y1": _torch_function(torch.special.bessel_y1),
    "cyl_bessel_i0": _torch_function(torch.special.i0), "cyl_bessel_i1": _torch_function(torch.special.i1),
}  # fmt: skip
"""Functions of CUDA's math library by their C name, without the f of the float32 form."""


def _serve_libdevice() -> None:
    interpreter = importlib.import_module("triton.runtime.interpreter")
    cuda = importlib.import_module("triton.language.extra.cuda.libdevice")
    general = importlib.import_module("triton.language.extra.libdevice")
    interpreter.InterpreterBuilder.create_extern_elementwise = _extern_elementwise
    for name, function in list(vars(cuda).items()):
        if not name.startswith("_") and callable(function):
            bound = functools.partial(function, _semantic=interpreter.interpreter_semantic)
            setattr(cuda, name, bound)
            if hasattr(general, name):
                setattr(general, name, bound)


def _extern_elementwise(
    builder: Any, library: str, path: str, symbol: str, arguments: list[Any], result: Any, pure: bool
) -> Any:
    name = symbol.removeprefix("__nv_")
    function = _LIBDEVICE.get(name) or _LIBDEVICE.get(name.removesuffix("f"))
    if function is None:
        raise NotImplementedError(f"the function {name} of libdevice")
    interpreter = importlib.import_module("triton.runtime.interpreter")
    element = getattr(result, "scalar", result)
    values = np.asarray(function(*(argument.data for argument in arguments)))
    return interpreter.TensorHandle(values.astype(interpreter._get_np_dtype(element)), element)


# What the interpreter cannot run


_INTERPRETER = "triton/runtime/interpreter.py"


def _not_implemented(error: BaseException) -> str | None:
    if isinstance(error, NotImplementedError) and _raised_in(
        error, "triton/runtime/interpreter.py", __file__
    ):
        what = str(error).replace(" not supported in interpreter mode", "").replace("_", " ")
        return f"The interpreter does not have {what or 'an operation that the kernel uses'}."
    return None


def _gone_from_triton(error: BaseException) -> str | None:
    # A GPU host may run the older Triton that the kernel was written for.
    if (
        isinstance(error, NotImplementedError)
        and "removed" in str(error)
        and _raised_in(error, "/language/core.py")
    ):
        version = importlib.import_module("triton").__version__
        return (
            f"Triton {version}, which interprets kernels here, no longer has what the kernel uses: {error}."
        )
    return None


def _missing_from_builder(error: BaseException) -> str | None:
    if isinstance(error, AttributeError) and type(error.obj).__name__ == "InterpreterBuilder":
        return f"The interpreter does not have the operation {error.name}."
    return None


def _missing_type(error: BaseException) -> str | None:
    if _raised_in(error, _INTERPRETER) and str(error).startswith(("unsupported type", "fail to convert")):
        return f"The interpreter does not have a type that the kernel uses: {error}."
    return None


def _needs_cuda(error: BaseException) -> str | None:
    text = str(error)
    if (
        "not compiled with CUDA" in text
        or "NVIDIA driver" in text
        or "active drivers" in text
        or "dummy base class" in text
    ):
        return "The kernel asks for something that only a CUDA device can answer."
    return None


def _not_on_cpu(error: BaseException) -> str | None:
    text = str(error)
    half = "not implemented for 'Half'" in text or "not implemented for 'BFloat16'" in text
    if isinstance(error, RuntimeError) and (half or "not implemented on the CPU" in text):
        return f"PyTorch has no CPU form of a function that the kernel calls: {text.splitlines()[0]}."
    return None


_LIMITS = (
    _not_implemented,
    _gone_from_triton,
    _missing_from_builder,
    _missing_type,
    _needs_cuda,
    _not_on_cpu,
)


def _raised_in(error: BaseException, *files: str) -> bool:
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].filename.endswith(files)
