"""Three tables of MoleculeNet (Wu et al. 2018): blood-brain barrier, solubility, toxicity.

Read from SMILES once, which needs RDKit; what was read is cached. Nobody knows a rule for any of
them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.chem.molecules import rdkit_chem
from gnninterpreter.chem.smiles import from_smiles, parse_smiles
from gnninterpreter.datasets.molecular import BONDS, MolecularDataset
from gnninterpreter.datasets.published import PublishedFile
from gnninterpreter.errors import DataError
from gnninterpreter.spec import Categorical, GraphSpec

HOME = "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets/"
COMMON = ("C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "N+", "O-")
# With these, 99% of Tox21 is kept: what is left out are salts and complexes of metals.
RARE = ("Si", "N-", "S-", "Sn", "Hg", "P+", "As", "B", "C-", "Se")
ASSAYS = (
    "NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD", "NR-PPAR-gamma",
    "SR-ARE", "SR-ATAD5", "SR-HSE", "SR-MMP", "SR-p53",
)  # fmt: skip

NO_LABEL, REFUSED = "left out: no label", "left out: refused by RDKit"
RARE_KIND, LARGEST = "left out: atoms of rare kinds", "only the largest part kept"


def _spec(atoms: tuple[str, ...], names: tuple[str, ...], task: str = "") -> GraphSpec:
    return GraphSpec(
        nodes=(Categorical(len(atoms), atoms, name="atom"),),
        edges=(Categorical(len(BONDS), BONDS, name="bond"),),
        class_names=names,
        metadata={"task": f"{task}, logits"} if task else {},
    )


class _Table(MolecularDataset):
    """A table, in the file ``source``, of SMILES and of labels in ``columns``."""

    source: ClassVar[PublishedFile]
    columns: ClassVar[tuple[str, ...]]
    oracle = None  # type: ignore[assignment]

    def generate(self) -> Iterator[Data]:
        """Yield the molecules in their published order; ``metadata`` counts those left out."""
        rdkit_chem("reading SMILES")
        table = self.source.read(Path(self.root), download=self.may_download)[0]
        text = table.decode("utf-8")
        rows = list(csv.DictReader(io.StringIO(text, newline="")))
        notes: Counter[str] = Counter()
        for number, row in enumerate(rows, start=2):
            label = self._label(row, number)
            found = NO_LABEL if bool(label.isnan().all()) else _read(row["smiles"], self.spec)
            if isinstance(found, str):
                notes[found] += 1
                continue
            graph, parts = found
            notes[LARGEST] += parts > 1
            graph.y = label
            yield graph
        self.metadata |= {"rows": len(rows), "notes": dict(sorted((+notes).items()))}

    def parameters(self) -> Mapping[str, Any]:
        """Return the hash of the table."""
        return {"sha256": self.source.sha256}

    def _label(self, row: Mapping[str, str], number: int) -> Tensor:
        try:
            return torch.tensor([float(row[column] or "nan") for column in self.columns])
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                f"line {number} of the table of '{self.name}' cannot be read: {error}"
            ) from error


class BBBP(_Table):
    """Whether a drug gets into the brain (Martins et al. 2012)."""

    name = "bbbp"
    source = PublishedFile(
        ("bbbp.csv.gz", "BBBP.csv"),
        HOME + "BBBP.csv",
        "d07a38487aeac5cee5508413e468043ef3097451d2a112701c2d60be9ec6b662",
    )
    columns = ("p_np",)
    spec = _spec(COMMON, ("stays out", "gets in"))


class ESOL(_Table):
    """Solubility in water, as the logarithm of moles in a litre (Delaney 2004)."""

    name = "esol"
    source = PublishedFile(
        ("esol.csv.gz", "delaney-processed.csv"),
        HOME + "delaney-processed.csv",
        "8c06a76f0c6487d29ab0f903e6a7a7139f189ab3c1178f159c8be8964602f189",
    )
    columns = ("measured log solubility in mols per litre",)
    spec = _spec(COMMON, ("log solubility",), "regression")


class Tox21(_Table):
    """Activity in twelve assays of the Tox21 challenge (2014); NaN where not measured."""

    name = "tox21"
    source = PublishedFile(
        ("tox21.csv.gz",),
        HOME + "tox21.csv.gz",
        "7d7e7facd853a63e79ddce4e9c3fcb7a0d83a1c300b603031c0f2c64fbe77761",
    )
    columns = ASSAYS
    spec = _spec(COMMON + RARE, ASSAYS, "multilabel")


def _read(smiles: str, spec: GraphSpec) -> tuple[Data, int] | str:
    """The largest part of a molecule and how many parts it has; or why it cannot be read."""
    Chem = rdkit_chem()
    try:
        parts = Chem.GetMolFrags(parse_smiles(smiles), asMols=True)
    except DataError:
        return REFUSED
    largest = max(parts, key=lambda part: part.GetNumAtoms())
    # One molecule has one Kekule structure, however it was written; stereo is not told apart.
    plain = Chem.MolToSmiles(largest, isomericSmiles=False)
    try:
        return from_smiles(plain, spec), len(parts)
    except DataError:
        return RARE_KIND
