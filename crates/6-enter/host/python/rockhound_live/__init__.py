"""Triton programs on Rockhound's emulated GPU.

`imports` changes modules when the program imports them, `triton_driver` is the GPU as Triton sees it, `launch` starts kernels, `memory` makes
tensors known to the HIP library, `torch_cuda` and `torch_tensors` are the GPU as torch sees it, `timing` gives modelled times to benchmarks and the
autotuner, `hip` calls the library.
"""
