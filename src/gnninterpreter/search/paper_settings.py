"""The paper's settings for the classes of its data sets."""

from __future__ import annotations

# Table "regularization weights" of the paper: L1, L2, budget, connectivity for each class.
PAPER_WEIGHTS: dict[str, dict[str, tuple[float, float, float, float]]] = {
    "mutag": {"mutagen": (10, 5, 20, 1), "nonmutagen": (5, 2, 10, 2)},
    "cyclicity": {
        "red cyclic": (10, 5, 10000, 100),
        "green cyclic": (10, 5, 2000, 50),
        "acyclic": (10, 2, 5000, 50),
    },
    "motif": {
        "house": (1, 1, 5000, 0),
        "house-x": (5, 2, 2000, 0),
        "complete-4": (10, 5, 10000, 1),
        "complete-5": (10, 5, 10000, 5),
    },
    "shape": {
        "lollipop": (5, 5, 1, 5),
        "wheel": (10, 5, 10, 0),
        "grid": (1, 1, 2, 0),
        "star": (10, 2, 200, 0),
    },
    "is_acyclic": {"cyclic": (0, 0, 500, 0), "acyclic": (1, 5, 500, 5)},
    "color_consistency": {"consistent": (1, 1, 50, 1), "inconsistent": (0, 0, 50, 1)},
}

# The paper names neither the number of candidate nodes nor the budget. These are the values of its
# public code where that has any, and of the most similar data set elsewhere.
PAPER_SIZES: dict[str, tuple[int, float]] = {
    "mutag": (20, 20.0),
    "cyclicity": (20, 20.0),
    "motif": (30, 25.0),
    "shape": (25, 25.0),
    "is_acyclic": (25, 25.0),
    "color_consistency": (25, 25.0),
}
