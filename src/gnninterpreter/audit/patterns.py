"""The patterns that define classes: what the rule of a data set looks for, ready to be put in.

A data set may bring its own as an attribute ``patterns``, a sequence of `Pattern`; those of this
package are in the table below.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch_geometric.data import Batch, Data

from gnninterpreter.datasets.base import undirected_graph
from gnninterpreter.datasets.color_consistency import EDGE_COLORS, NODE_COLORS
from gnninterpreter.datasets.is_acyclic import circular_ladder, cycle, full_tree
from gnninterpreter.datasets.motif import COLORS, MOTIFS
from gnninterpreter.datasets.mutag import ATOMS
from gnninterpreter.datasets.shape import Edges, grid, lollipop, star, wheel
from gnninterpreter.spec.data import node_count

Paste = Callable[[Data, Data, np.random.Generator], Data]
"""Puts a pattern (second argument) into a graph (first)."""


@dataclass(frozen=True)
class Pattern:
    """Something that makes a graph one of a class, in several variants by name.

    Args:
        what: What it is, in the plural.
        variants: The pattern in several sizes; look-alikes are made of the first.
        hosts: Names of the classes of graphs to put it into; all others when empty.
        whole: Whether the class is about the graph as a whole, so that the variants are asked about
            as they are.
        paste: How it is put into a graph; joined by one edge when omitted.
    """

    class_name: str
    what: str
    variants: dict[str, Data]
    hosts: tuple[str, ...] = ()
    whole: bool = False
    paste: Paste | None = None

    @property
    def first(self) -> Data:
        """The variant to make look-alikes of."""
        return next(iter(self.variants.values()))


def true_patterns(dataset: Any = None, name: str | None = None) -> tuple[Pattern, ...]:
    """The patterns of a data set: its own ``patterns``, or those that are known by its name."""
    own: Sequence[Pattern] | None = getattr(dataset, "patterns", None)
    if own is not None:
        return tuple(own)
    return _TABLE[name]() if name in _TABLE else ()


def _motif() -> tuple[Pattern, ...]:
    found = []
    for name, edges in MOTIFS.items():
        size = 1 + max(j for _, j in edges)
        graph = _plain((size, list(edges)), x=torch.eye(len(COLORS))[:size])
        found.append(Pattern(name, f"the {name} motif", {f"a {name} motif": graph}, ("others",)))
    return tuple(found)


def _cyclicity() -> tuple[Pattern, ...]:
    found = []
    for number, color in enumerate(("red", "green")):
        rings = {
            f"a {color} cycle of {n}": _plain(cycle(n), edge=torch.eye(2)[number])
            for n in (5, 3, 4, 6, 8, 12)
        }
        # A graph with cycles of both colors is of neither class, so it cannot be a host.
        found.append(Pattern(f"{color} cyclic", f"{color} cycles", rings, ("acyclic",)))
    return tuple(found)


def _is_acyclic() -> tuple[Pattern, ...]:
    rings = {f"a cycle of {n}": _plain(cycle(n)) for n in (5, 3, 4, 8, 16)}
    rings |= {
        "a wheel of 6": _plain(wheel(5)),
        "a ladder of 8": _plain(circular_ladder(4)),
        "a 3 by 3 grid": _plain(grid(3, 3)),
    }
    trees = {
        "a path of 5": _plain(full_tree(5, 1)),
        "a single node": _plain((1, [])),
        "a star of 6": _plain(star(5)),
        "a binary tree of 7": _plain(full_tree(7, 2)),
    }
    return (
        Pattern("cyclic", "cycles", rings, ("acyclic",)),
        Pattern("acyclic", "trees", trees, ("cyclic",)),
    )


def _shape() -> tuple[Pattern, ...]:
    # Sizes over the whole range of the data set; the first is one to make look-alikes of.
    sides = [(w, h) for w in range(2, 9) for h in range(w, 9)]
    heads = [(h, t) for h in range(4, 17, 2) for t in range(4, 17, 3)]
    rims = [8, *range(4, 65, 2)]
    members: dict[str, dict[str, tuple[int, Edges]]] = {
        "lollipop": {f"{h} and {t}": lollipop(h, t) for h, t in [(6, 5), *heads]},
        "wheel": {str(n): wheel(n) for n in rims},
        "grid": {f"{w} by {h}": grid(w, h) for w, h in [(4, 4), *sides]},
        "star": {str(n): star(n) for n in rims},
    }
    return tuple(
        Pattern(
            name,
            f"{name}s without noise",
            {f"{name} of {size}": _plain(graph) for size, graph in drawn.items()},
            whole=True,
        )
        for name, drawn in members.items()
    )


def _mutag() -> tuple[Pattern, ...]:
    atoms = torch.eye(len(ATOMS))[[ATOMS.index(atom) for atom in "NOO"]]
    nitro = _plain((3, [(0, 1), (0, 2)]), x=atoms)
    groups = {_counted(n, "nitro group"): _beside(nitro, n) for n in (1, 2, 3)}
    return (Pattern("mutagen", "nitro groups", groups, ("nonmutagen",), paste=_on_carbons),)


def _color_consistency() -> tuple[Pattern, ...]:
    red, blue = NODE_COLORS.index("red"), EDGE_COLORS.index("blue")
    pair = _plain(
        (2, [(0, 1)]),
        x=torch.eye(len(NODE_COLORS))[[red, red]],
        edge=torch.eye(len(EDGE_COLORS))[blue],
    )
    spoiled = {_counted(n, "edge") + " of a wrong color": _beside(pair, n) for n in (1, 2, 3)}
    return (
        Pattern(
            "inconsistent", "edges of a wrong color", spoiled, ("consistent",), paste=_spoil_edges
        ),
    )


def _on_carbons(host: Data, part: Data, rng: np.random.Generator) -> Data:
    """Bond each nitrogen of the part to a carbon of its own, one with few neighbors.

    Random graphs, where no molecules are at hand, may have no carbon: then any atom does.
    """
    carbon = host.x.argmax(1).numpy() == ATOMS.index("C")
    carbons = np.flatnonzero(carbon if carbon.any() else ~carbon)
    degree = torch.bincount(host.edge_index[0], minlength=node_count(host)).numpy()
    carbons = rng.permutation(carbons)
    order = carbons[np.argsort(degree[carbons], kind="stable")]
    first, index = node_count(host), [host.edge_index, part.edge_index]
    index[1] = index[1] + first
    for group in range(node_count(part) // 3):
        at, nitrogen = int(order[group % len(order)]), first + 3 * group
        index.append(torch.tensor([[at, nitrogen], [nitrogen, at]]))
    return Data(x=torch.cat([host.x, part.x]), edge_index=torch.cat(index, dim=1))


def _spoil_edges(host: Data, part: Data, rng: np.random.Generator) -> Data:
    """Give as many edges of the host another color as the part has edges."""
    colors = host.edge_attr.argmax(1)
    pairs: dict[frozenset[int], list[int]] = {}
    for e, ends in enumerate(host.edge_index.t().tolist()):
        pairs.setdefault(frozenset(ends), []).append(e)
    count = min(int(part.edge_index.size(1)) // 2, len(pairs))
    chosen = rng.choice(len(pairs), count, replace=False)
    both = list(pairs.values())
    for pair in chosen.tolist():
        shift = int(rng.integers(1, len(EDGE_COLORS)))
        colors[both[pair]] = (colors[both[pair]] + shift) % len(EDGE_COLORS)
    spoiled = host.clone()
    spoiled.edge_attr = torch.eye(len(EDGE_COLORS))[colors]
    del spoiled.y
    return spoiled


def _plain(
    graph: tuple[int, Edges], x: torch.Tensor | None = None, edge: torch.Tensor | None = None
) -> Data:
    size, edges = graph
    rows = None if edge is None else edge.repeat(len(edges), 1)
    data = undirected_graph(size, edges, 0, x=x, edge_attr=rows)
    del data.y
    data.num_nodes = size
    return data


def _beside(graph: Data, count: int) -> Data:
    """Several copies of a graph as one."""
    copies = Batch.from_data_list([graph] * count)
    return Data(**{key: copies[key] for key in ("x", "edge_index", "edge_attr") if key in copies})


def _counted(number: int, noun: str) -> str:
    words = ("no", "one", "two", "three")
    return f"{words[number]} {noun}" + ("s" if number != 1 else "")


_TABLE: dict[str | None, Callable[[], tuple[Pattern, ...]]] = {
    "motif": _motif,
    "cyclicity": _cyclicity,
    "is_acyclic": _is_acyclic,
    "shape": _shape,
    "mutag": _mutag,
    "color_consistency": _color_consistency,
}
