"""MUTAG: 188 nitro compounds that do or do not cause mutations, the one real data set.

Debnath et al. (1991), as the TU collection publishes it. It is looked for in ``root``, in the
folder that ``GNNINTERPRETER_DATA`` names, then in the installed `grakel` package, which carries a
copy, and downloaded otherwise.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from torch_geometric.data import Data

from gnninterpreter.datasets.base import ExplainableDataset
from gnninterpreter.datasets.families import adjacency, count_cycles
from gnninterpreter.datasets.molecular import TU_PARTS, tu_graphs
from gnninterpreter.datasets.published import MissingFileError, data_folder
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Categorical, GraphSpec

ATOMS = ("C", "N", "O", "F", "I", "Cl", "Br")
BONDS = ("aromatic", "single", "double", "triple")
NUM_GRAPHS = 188

_ATOM_COLORS = ("#555555", "#1F77B4", "#D62728", "#2CA02C", "#9467BD", "#17BECF", "#8C564B")
_ATOM_BLOCK = Categorical(7, ATOMS, _ATOM_COLORS, name="atom")
_BOND_BLOCK = Categorical(4, BONDS, name="bond")
NITROGEN, OXYGEN = 1, 2


class MUTAG(ExplainableDataset):
    """Molecules of class nonmutagen or mutagen, without hydrogens; with bond types or not."""

    name = "mutag"
    num_graphs = NUM_GRAPHS
    spec = GraphSpec(nodes=(_ATOM_BLOCK,), class_names=("nonmutagen", "mutagen"))
    rule_of_thumb = True

    def __init__(self, *args: Any, bonds: bool = False, **options: Any) -> None:
        self.bonds = bonds
        if bonds:
            self.spec = GraphSpec(  # type: ignore[misc]
                nodes=(_ATOM_BLOCK,), edges=(_BOND_BLOCK,), class_names=MUTAG.spec.class_names
            )
        super().__init__(*args, **options)

    def parameters(self) -> Mapping[str, Any]:
        """Return whether the bonds are kept."""
        return {"bonds": self.bonds}

    def generate(self) -> Iterator[Data]:
        """Yield the molecules in their published order."""
        folder, source = _find_files(Path(self.root), download=self.may_download)
        self.metadata["source"] = source
        tables = [_read(folder / f"MUTAG_{part}.txt") for part in TU_PARTS]
        labels = tables[2]
        if len(labels) != NUM_GRAPHS:
            raise DataError(f"{folder} holds {len(labels)} molecules, not MUTAG's {NUM_GRAPHS}")
        labels[:] = labels > 0
        yield from tu_graphs(tables, self.spec)

    @staticmethod
    def oracle(graph: Data) -> int:
        """Return mutagen for a molecule with nitro groups on fused rings: a rule of thumb."""
        return int(looks_mutagenic(graph))


def nitro_groups(graph: Data) -> int:
    """Count the NO2 groups: a nitrogen with two oxygens that have no other neighbor."""
    neighbors, atoms = adjacency(graph), graph.x.argmax(1).tolist()
    ends = {i for i, others in neighbors.items() if atoms[i] == OXYGEN and len(others) == 1}
    around = [others & ends for i, others in neighbors.items() if atoms[i] == NITROGEN]
    return sum(len(oxygens) == 2 for oxygens in around)


def looks_mutagenic(graph: Data) -> bool:
    """Tell a mutagen by rule: a nitro group, and either a second one or three rings.

    Nitro groups and fused aromatic rings are what Debnath et al. (1991) relate to mutagenicity. All
    188 molecules of MUTAG have a nitro group; the rule agrees with the label of 167 (0.888).
    """
    nitro = nitro_groups(graph)
    return nitro >= 1 and (nitro >= 2 or count_cycles(graph) >= 3)


def _find_files(root: Path, *, download: bool = True) -> tuple[Path, str]:
    """Return the folder of the files, and where it was found."""
    for place in (root, *filter(None, [data_folder()])):
        for folder in (place, place / "MUTAG" / "raw", place / "raw", place / "MUTAG"):
            if (folder / "MUTAG_A.txt").is_file():
                return folder, "root"
    found = importlib.util.find_spec("grakel")
    for inside in found.submodule_search_locations or () if found else ():
        folder = Path(inside) / "tests" / "data" / "MUTAG"
        if (folder / "MUTAG_A.txt").is_file():
            return folder, "grakel"
    if not download:
        raise MissingFileError(f"no folder has MUTAG_A.txt; {_advice(root)}")
    return _download(root), "download"


def _download(root: Path) -> Path:
    from torch_geometric.datasets import TUDataset

    try:
        return Path(TUDataset(str(root), "MUTAG").raw_dir)
    except Exception as error:
        raise MissingFileError(
            f"cannot download MUTAG ({type(error).__name__}: {error}); {_advice(root)}"
        ) from error


def _advice(root: Path) -> str:
    return (
        f"put the files MUTAG_*.txt into {root}, or, up to Python 3.12, install the copy in grakel "
        "with: pip install 'gnninterpreter[chem]'"
    )


def _read(path: Path) -> np.ndarray[Any, Any]:
    try:
        return np.loadtxt(path, dtype=np.int64, delimiter=",", ndmin=2)
    except OSError as error:
        raise DataError(f"cannot read {path}; the files of MUTAG are incomplete") from error
    except ValueError as error:
        raise DataError(f"{path} is damaged ({error}); delete it and fetch it again") from error
