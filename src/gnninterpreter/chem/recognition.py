"""Which featuriser made a data set, and the spec that follows from that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch_geometric.data import Data

from gnninterpreter.chem.molecules import rdkit_installed
from gnninterpreter.chem.presets import PRESETS, UNSEEN, Feature, Preset, preset
from gnninterpreter.chem.reading import FUNCTION, reading_of
from gnninterpreter.errors import DataError
from gnninterpreter.graphs import table
from gnninterpreter.spec import Block, Categorical, Derived, GraphSpec, graph_list
from gnninterpreter.spec.derived import fill

LOOKED_AT = 40
"""Graphs that a featuriser is tried on."""
ENOUGH = 0.9
"""Share of atoms and bonds that have to be as the featuriser makes them."""
TU_ELEMENTS = {
    "mutag": "C N O F I Cl Br",
    "mutagenicity": "C O Cl H N F Br S P I Na K Li Ca",
    "aids": (
        "C O N Cl F S Se P Na I Co Br Li Si Mg Cu As B Pt Ru K Pd Au Te W Rh Zn Bi Pb Ge Sb Sn Ga "
        "Hg Ho Tl Ni Tb"
    ),
}
"""Elements of the node labels of data sets of the TU collection, by their read-me files."""
TU_BONDS = {
    "mutag": ("aromatic", "single", "double", "triple"),
    "mutagenicity": ("single", "double", "triple"),
    "aids": ("single", "double", "triple"),
}


def recognise(graphs: Any) -> Preset | None:
    """The featuriser that plainly made the graphs; None where none, or more than one, fits."""
    listed = graph_list(graphs)
    fits = [
        one for one in PRESETS.values()
        if _shaped(listed[0], one) and rdkit_installed() and agreement(listed, one) >= ENOUGH
    ]  # fmt: skip
    return fits[0] if len(fits) == 1 else None


def preset_spec(
    name: str | Preset, graphs: Sequence[Data] = (), class_names: Sequence[str] = ()
) -> GraphSpec:
    """The spec of graphs that a featuriser makes.

    Vocabularies end with what the graphs use, and explanations are made of atoms that occur in
    them.
    """
    chosen = preset(name)
    for number, graph in enumerate(graphs):
        if not _shaped(graph, chosen):
            had = [None if graph.get(k) is None else list(graph[k].shape) for k in _KEYS]
            raise DataError(
                f"preset {chosen.name!r} does not fit: {chosen.title} gives x {chosen.widths[0]} "
                f"columns and edge_attr {chosen.widths[1]} "
                f"(got {had[0]} and {had[1]} in graph {number})"
            )
    values = [[table(graph[key]) for graph in graphs] for key in _KEYS]
    x, attributes = (torch.cat(part) if part else None for part in values)
    plain = GraphSpec(
        nodes=_blocks(chosen, "atoms", x),
        edges=_blocks(chosen, "bonds", attributes),
        class_names=tuple(class_names),
    )
    reading = reading_of(plain)
    assert reading is not None
    if not graphs:
        return plain
    seen = {str(a) for graph in graphs for a in reading.atoms_of(graph, plain) if a is not None}
    note = (
        f"features recognised as {chosen.title}; all but elements, charges and kinds of bonds "
        "are computed from the molecule"
    )
    metadata = {"atoms": " ".join(sorted(seen)), "note": note}
    if chosen.coded and x is not None and x.is_floating_point():
        metadata["codes"] = "numbers"
    return replace(plain, metadata=metadata)


def agreement(graphs: Sequence[Data], name: str | Preset) -> float:
    """Share of the atoms and bonds of graphs that are as a featuriser makes them.

    Handedness is not looked at: the graph does not hold what it follows from.
    """
    chosen = preset(name)
    some = [graph for graph in graphs if graph.num_edges][:LOOKED_AT]
    try:
        spec = preset_spec(chosen, some)
    except DataError:
        return 0.0
    same = total = 0
    for graph in some:
        made = fill(graph, spec)
        for key, blocks in zip(_KEYS, (spec.nodes, spec.edges), strict=True):
            names = [block.name for block in blocks for _ in range(block.width)]
            kept = [k for k, name in enumerate(names) if name not in UNSEEN]
            alike = (table(graph[key]) == table(made[key]))[:, kept].all(dim=1)
            same, total = same + int(alike.sum()), total + alike.numel()
    return same / total if total else 0.0


def spec_of(graphs: Any) -> GraphSpec | None:
    """The spec of molecules that say what they are: by a featuriser, or by the data set's name."""
    listed = graph_list(graphs)
    found = recognise(listed)
    if found is not None:
        return preset_spec(found, listed)
    return _tu_spec(listed)


def _tu_spec(graphs: Any) -> GraphSpec | None:
    name = str(getattr(graphs, "name", None) or "").lower()
    elements = tuple(TU_ELEMENTS.get(name, "").split())
    x, attributes = graphs[0].get("x"), graphs[0].get("edge_attr")
    if not elements or x is None or table(x).size(1) != len(elements):
        return None
    bonds = TU_BONDS[name]
    if attributes is not None and table(attributes).size(1) != len(bonds):
        return None
    note = f"nodes recognised as the atoms of {graphs.name}: {', '.join(elements[:8])}"
    return GraphSpec(
        nodes=(Categorical(len(elements), elements, name="atom"),),
        edges=() if attributes is None else (Categorical(len(bonds), bonds, name="bond"),),
        metadata={"note": note + ("..." if len(elements) > 8 else "")},
    )


_KEYS = ("x", "edge_attr")


def _shaped(graph: Data, chosen: Preset) -> bool:
    """Whether a graph has the columns of a featuriser."""
    for key, width in zip(_KEYS, chosen.widths, strict=True):
        value = graph.get(key)
        if value is None or value.dim() != 2 or value.size(1) != width:
            return False
        # Codes may come as floats: many models are called with ``data.x.float()``.
        if not (_are_whole(value) if chosen.coded else value.is_floating_point()):
            return False
    return True


def _are_whole(values: torch.Tensor) -> bool:
    return not values.is_floating_point() or bool((values == values.round()).all())


def _blocks(chosen: Preset, of: str, values: torch.Tensor | None) -> tuple[Block, ...]:
    """A block for each property: free ones to choose from, the others computed."""
    found: list[Block] = []
    for start, width, feature in chosen.placed(of):
        part = None if values is None else values[:, start : start + width]
        if part is not None and part.numel():
            _check_fits(part, feature, chosen)
        if not feature.free:
            found.append(
                Derived(
                    FUNCTION,
                    width,
                    name=feature.name,
                    encoding="index" if chosen.coded else "numbers",
                    settings={"preset": chosen.name, "of": of, "start": start},
                )
            )
        else:
            names = [str(v).lower() if feature.name == "bond" else str(v) for v in feature.values]
            names += ["other"] * feature.other
            size = len(names)
            if chosen.coded and part is not None and part.numel():
                size = min(size, int(part.max()) + 1)
            coding = "index" if chosen.coded else "one-hot"
            if not chosen.coded and part is not None and bool((part.sum(dim=1) == 0).any()):
                names, size, coding = [*names, "other"], size + 1, "dummy"
            found.append(Categorical(size, tuple(names[:size]), name=feature.name, encoding=coding))
    return tuple(found)


def _check_fits(part: torch.Tensor, feature: Feature, chosen: Preset) -> None:
    """Say so where columns cannot be the property that they are meant to be."""
    if not feature.values:
        return
    if chosen.coded:
        low, high = int(part.min()), int(part.max())
        wrong = f"code {low if low < 0 else high}" if low < 0 or high >= feature.size else ""
    else:
        hot = bool(((part == 0) | (part == 1)).all() and (part.sum(dim=1) <= 1).all())
        wrong = "" if hot else "columns that are not one-hot"
    if wrong:
        raise DataError(
            f"preset {chosen.name!r} does not fit: the column of the {feature.name} has {wrong}, "
            f"and {chosen.title} knows {feature.size} values of it"
        )
