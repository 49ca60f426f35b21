"""Mixing bits: the numbers of SplitMix64, on every device."""

from __future__ import annotations

import pytest
import torch

from gnninterpreter.mixing import GOLDEN, mix

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


@pytest.mark.parametrize("device", DEVICES)
def test_the_first_numbers_of_splitmix64(device: str) -> None:
    # Seed 0: its state grows by the golden ratio, and each state is mixed.
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    found = mix(torch.arange(1, 4, device=device) * GOLDEN)
    assert [number % 2**64 for number in found.tolist()] == expected


@pytest.mark.parametrize("device", DEVICES)
def test_any_layout_is_mixed(device: str) -> None:
    numbers = torch.arange(-6, 6).view(3, 4)
    whole = mix(numbers)
    assert torch.equal(mix(numbers.to(device).T).cpu(), whole.T)
    assert torch.equal(mix(numbers.to(device)[:, ::2]).cpu(), whole[:, ::2])
