"""Products of 16-bit tensors, and normalizations, that the program has on the GPU.

The one idea to keep in mind: programs compare a kernel with torch's own operation bit by bit or nearly so. On a GPU both add up float32, matrix units in
order along K, reductions in a tree; libraries of the CPU add in another order, partly in 16 bits, and gradients of normalizations one after the other.
"""

_WITH_SUMMAND = {"addmm", "baddbmm"}
_PRODUCTS = {"matmul", "mm", "bmm", "__matmul__", "__rmatmul__"}
NAMES = _PRODUCTS | _WITH_SUMMAND | {"layer_norm", "group_norm", "rms_norm"}

# Multiplications above which the order along K is left to the CPU's library.
_MOST = 1 << 30


def install(torch):
    """What the operations of `NAMES` give; NotImplemented where they are to be torch's own."""
    kinds = (torch.float16, torch.bfloat16)
    # The type in which a normalization and its gradients are computed.
    wider = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.float32: torch.float64}

    def summed(left, right):
        """The product in the type of the factors, added up in float32."""
        kind = left.dtype
        left, right = left.float(), right.float()
        depth = left.shape[-1]
        batch = torch.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        shape = (*batch, left.shape[-2], right.shape[-1])
        if torch.Size(shape).numel() * depth > _MOST:
            return torch.matmul(left, right).to(kind)
        total = torch.zeros(shape)
        for k in range(depth):
            # A product of two 16-bit numbers has no more digits than float32 has.
            total.addcmul_(left[..., :, k : k + 1], right[..., k : k + 1, :])
        return total.to(kind)

    class Product(torch.autograd.Function):
        """The product with its gradients."""

        @staticmethod
        def forward(context, left, right):
            context.save_for_backward(left, right)
            return summed(left, right)

        @staticmethod
        def backward(context, gradient):
            left, right = context.saved_tensors
            wanted = context.needs_input_grad
            of_left = summed(gradient, right.mT).sum_to_size(left.shape) if wanted[0] else None
            of_right = summed(left.mT, gradient).sum_to_size(right.shape) if wanted[1] else None
            return of_left, of_right

    def product(function, arguments, options, any_marked):
        if "out_dtype" in options and any_marked(arguments):
            # The CPU has no such form; sums are in float32 on the GPU anyway.
            kind = options["out_dtype"]
            wide = [it.to(kind) if isinstance(it, torch.Tensor) else it for it in arguments]
            return function(*wide, **{name: value for name, value in options.items() if name != "out_dtype"})
        if options or len(arguments) != 2 or not any_marked(arguments):
            return NotImplemented
        left, right = arguments if function.__name__ != "__rmatmul__" else reversed(arguments)
        if not all(isinstance(it, torch.Tensor) and it.dtype in kinds and it.dim() >= 2 for it in (left, right)):
            return NotImplemented
        if left.dtype != right.dtype or left.shape[-1] != right.shape[-2]:
            return NotImplemented
        with torch._C.DisableTorchFunction():
            return Product.apply(left, right)

    def normalized(function, arguments, options, any_marked):
        values = [*arguments, *options.values()]
        kind = next((it.dtype for it in values if isinstance(it, torch.Tensor)), None)
        if kind not in wider or not any_marked(values):
            return NotImplemented

        def wide(value):
            return value.to(wider[kind]) if isinstance(value, torch.Tensor) and value.dtype in wider else value

        return function(*map(wide, arguments), **{name: wide(value) for name, value in options.items()}).to(kind)

    def computed(function, *rest):
        return (product if function.__name__ in _PRODUCTS | _WITH_SUMMAND else normalized)(function, *rest)

    return computed
