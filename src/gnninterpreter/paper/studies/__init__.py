"""One module for each part of the paper's evaluation, each with one function ``study``."""
