"""Gradients of tensors on the GPU.

The one idea to keep in mind: torch's engine makes gradients without asking Python, so they have no mark; while it runs from results on the GPU, tensors
without a mark are there too.
"""

import functools

from . import memory


def install(torch, is_marked):
    """The engine says from now on where it works."""
    graph = torch.autograd.graph
    original = getattr(graph, "_engine_run_backward", None)
    if original is None:
        # torch before 2.3: where gradients are is not known.
        return

    @functools.wraps(original)
    def run_backward(outputs, *arguments, **options):
        gradients = memory.gradients
        before = gradients.are_on_gpu
        gradients.are_on_gpu = before or any(is_marked(it) for it in outputs if isinstance(it, torch.Tensor))
        try:
            return original(outputs, *arguments, **options)
        finally:
            gradients.are_on_gpu = before

    graph._engine_run_backward = torch.autograd._engine_run_backward = run_backward
