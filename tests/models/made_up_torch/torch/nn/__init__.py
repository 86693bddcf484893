"""Modules of the made-up PyTorch."""

from torch.nn.modules.module import Module as Module
