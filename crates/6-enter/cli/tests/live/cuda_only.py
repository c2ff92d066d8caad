"""A graph of the GPU's own, which the emulated one does not have."""

import torch

graph = torch.cuda.CUDAGraph()
