"""Contents that a program reads back from the GPU, kept where `rockhound judge` compares it with another program's.

Tensors that go to the CPU, numbers that Python gets, and tensors that the program itself compares.
"""

import functools
import json
import os

are_kept = bool(os.environ.get("ROCKHOUND_WATCHED")) and bool(os.environ.get("ROCKHOUND_SESSION"))
_ELEMENTS = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "int8": "i8",
    "uint8": "u8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
}
_MOST = 1 << 30
_kept = 0


def keep(tensor):
    """Adds the contents of a tensor whose memory the CPU may read."""
    global _kept
    import torch

    # Methods of the base class, because methods of tensors refuse what a GPU refuses.
    base = torch._C.TensorBase
    with torch.no_grad(), torch._C.DisableTorchFunction():
        flat = base.contiguous(base.reshape(base.detach(tensor), (-1,)))
        data = bytes(base.numpy(base.view(flat, torch.uint8))) if base.numel(flat) else b""
    _kept += len(data)
    if _kept > _MOST:
        return
    element = _ELEMENTS.get(str(tensor.dtype).rpartition(".")[2])
    path = os.path.join(os.environ["ROCKHOUND_SESSION"], f"{os.getpid():010}.results")
    with open(path, "ab") as file:
        file.write(json.dumps({"bytes": len(data), "element": element}).encode() + b"\n" + data)


def install(torch, is_marked):
    """Keeps what is read back by other ways than a move to the CPU."""
    if not are_kept:
        return

    def kept(function):
        @functools.wraps(function)
        def read(first, *arguments, **options):
            if isinstance(first, torch.Tensor) and is_marked(first):
                keep(first)
            return function(first, *arguments, **options)

        return read

    for name in ("item", "tolist"):
        setattr(torch.Tensor, name, kept(getattr(torch.Tensor, name)))
    for name in ("allclose", "equal"):
        setattr(torch, name, kept(getattr(torch, name)))
    torch.testing.assert_close = kept(torch.testing.assert_close)
