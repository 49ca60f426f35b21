"""How many bonds an atom can have."""

from __future__ import annotations

__all__ = ["MUTAG_VALENCIES"]

MUTAG_VALENCIES: dict[str, int] = {"C": 4, "N": 5, "O": 2, "F": 1, "I": 7, "Cl": 7, "Br": 5}
"""Most bonds of each atom of MUTAG, as XGNN counts them."""
