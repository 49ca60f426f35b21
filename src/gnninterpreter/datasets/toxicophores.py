"""Toxicophores: substructures that Kazius et al. (2005) found to make molecules mutagenic.

Their SMARTS are read from ``toxicophores.csv`` in the folder that ``GNNINTERPRETER_DATA`` names, or
from the package `medchem`, which has them as its rule set "Genotoxic-Carcinogenicity".
"""

from __future__ import annotations

import csv
import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

from torch_geometric.data import Data

from gnninterpreter.chem.molecules import rdkit_chem, sanitized
from gnninterpreter.datasets.published import DATA_VARIABLE, data_folder
from gnninterpreter.errors import DataError
from gnninterpreter.spec import GraphSpec

FILE = "toxicophores.csv"
RULES = "Genotoxic-Carcinogenicity"


def toxicophores_in(graph: Data, spec: GraphSpec) -> list[str]:
    """Names of the toxicophores that a molecule has, with or without hydrogens."""
    patterns = load_toxicophores()
    from rdkit import rdBase

    with rdBase.BlockLogs():  # hydrogens without neighbours stay, which it would print
        molecule = rdkit_chem().RemoveHs(sanitized(graph, spec))
    return [name for name, pattern in patterns.items() if molecule.HasSubstructMatch(pattern)]


def load_toxicophores() -> dict[str, Any]:
    """The 19 specific and 10 additional toxicophores as RDKit patterns, by name."""
    folder = data_folder()
    places = [folder / FILE] if folder else []
    found = importlib.util.find_spec("medchem")
    installed = (found and found.submodule_search_locations) or ()
    places += [Path(place) / "data" / "common_alerts_collection.csv" for place in installed]
    for path in places:
        if path.is_file():
            return _patterns(path)
    raise DataError(
        f"the toxicophores are not at hand; name the folder with {FILE} in {DATA_VARIABLE}, or "
        "pip install medchem"
    )


@lru_cache(maxsize=4)
def _patterns(path: Path) -> dict[str, Any]:
    Chem = rdkit_chem("looking for toxicophores")
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get("rule_set_name", RULES) == RULES]
    named = {row.get("name") or row.get("description", ""): row["smarts"] for row in rows}
    # The eight general ones say too much: each has a specific one that leaves out exceptions.
    return {
        name: Chem.MolFromSmarts(smarts)
        for name, smarts in named.items()
        if not name.endswith("(general)")
    }
