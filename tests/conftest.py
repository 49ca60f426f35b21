"""Shared by all tests."""

import torch

# Tiny tensors: threads cost more than they bring, and results must not depend on their number.
torch.set_num_threads(1)
