"""Which specs are those of molecules."""

from __future__ import annotations

import torch
from torch_geometric.data import Data

from gnninterpreter.chem import is_molecular
from gnninterpreter.chem.reading import reading_of
from gnninterpreter.datasets.mutag import MUTAG
from gnninterpreter.spec import Categorical, Continuous, GraphSpec
from tests.chem.made import NITROBENZENE, SPEC, graph


def spec(*names: str, **options: object) -> GraphSpec:
    return GraphSpec(nodes=(Categorical(len(names), names),), **options)


def test_elements_make_a_molecule_and_other_names_do_not() -> None:
    assert is_molecular(MUTAG.spec)
    assert is_molecular(SPEC)
    assert is_molecular(spec("C", "N", "other"))
    assert not is_molecular(spec("red", "green"))
    assert not is_molecular(spec("0", "1"))
    assert not is_molecular(spec("N", "O"))  # no carbon: rather initials of something else
    assert not is_molecular(spec("C", "N", directed=True))


def test_atoms_and_bonds_are_read_by_name() -> None:
    reading = reading_of(SPEC)
    assert reading is not None
    made = graph(*NITROBENZENE)
    assert [str(atom) for atom in reading.atoms_of(made, SPEC)][-3:] == ["N+", "O", "O-"]
    bonds = reading.bonds_of(made, SPEC)
    assert (bonds[0, 1], bonds[6, 7], bonds[6, 8]) == ("aromatic", "double", "single")


def test_charges_and_aromatic_flags_may_have_columns_of_their_own() -> None:
    wide = GraphSpec(
        nodes=(
            Continuous(2, -2.0, 2.0, names=("mass", "formal charge")),
            Categorical(2, ("C", "N"), name="element"),
            Categorical(2, ("no", "yes"), name="is aromatic"),
        ),
    )
    x = torch.tensor([[0.5, 1.0, 0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0, 0.0, 1.0]])
    made = Data(x=x, edge_index=torch.tensor([[0, 1], [1, 0]]))
    reading = reading_of(wide)
    assert reading is not None
    assert [str(atom) for atom in reading.atoms_of(made, wide)] == ["N+", "C"]
    assert reading.bonds_of(made, wide) == {(0, 1): "aromatic"}


def test_bonds_are_read_by_order_but_not_by_number_of_category() -> None:
    def kinds(*names: str) -> tuple[str | None, ...]:
        found = reading_of(spec("C", "N", edges=(Categorical(len(names), names),)))
        assert found is not None
        return found.kinds

    assert kinds("1", "2", "3", "1.5") == ("single", "double", "triple", "aromatic")
    assert kinds("SINGLE", "DOUBLE", "misc") == ("single", "double", None)
    assert kinds("0", "1", "2") == ()
