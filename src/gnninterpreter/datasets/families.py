"""The rule of Shape: the family whose largest member inside a graph leaves least unexplained.

Noise only adds edges, so a noisy member still holds the member itself. For each family the largest
member that can be found inside the graph is measured by the edges it leaves over, as a share of its
own: that is the noise it would take to make the graph from it, at most 0.2 in the data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import networkx as nx
import torch
from torch_geometric.data import Data

Neighbors = Mapping[int, set[int]]

# A little over the generator's 0.2, for members that are found only in part.
LARGEST_NOISE = 0.25
# Steps of the search for a tail; the tails of the data set take a few hundred.
SEARCH_STEPS = 20_000
SMALLEST = {"lollipop head": 4, "lollipop tail": 4, "wheel": 4, "grid": 2, "star": 4}


@dataclass(frozen=True)
class FamilyMatch:
    """The family nearest to a graph, and the noise from each as a share of its edges."""

    name: str
    distance: float
    distances: Mapping[str, float]


def nearest_family(graph: Data) -> FamilyMatch:
    """Find the family whose largest member in a graph leaves the smallest share of edges over."""
    neighbors = adjacency(graph)
    edges = sum(len(others) for others in neighbors.values()) // 2
    leaves = max((len(others) for others in neighbors.values()), default=0)
    largest = {
        "lollipop": _lollipop_edges(neighbors, edges),
        "wheel": _wheel_edges(neighbors),
        "grid": _grid_edges(neighbors, edges),
        "star": leaves if leaves >= SMALLEST["star"] else 0,
    }
    distances = {
        name: (edges - found) / found if found else float("inf") for name, found in largest.items()
    }
    name = min(distances, key=distances.__getitem__)
    distance = distances[name]
    return FamilyMatch(name if distance <= LARGEST_NOISE else "others", distance, distances)


def adjacency(graph: Data) -> dict[int, set[int]]:
    """Return the neighbors of each node of a graph, whatever the direction of its edges."""
    neighbors: dict[int, set[int]] = {node: set() for node in range(int(graph.num_nodes or 0))}
    pairs = graph.edge_index if graph.edge_index is not None else torch.empty(2, 0)
    for i, j in pairs.t().tolist():
        if i != j:
            neighbors[i].add(j)
            neighbors[j].add(i)
    return neighbors


def count_cycles(graph: Data) -> int:
    """Count the independent cycles of a graph, taken as undirected: edges - nodes + components."""
    found = nx.Graph({node: list(others) for node, others in adjacency(graph).items()})
    parts = int(nx.number_connected_components(found)) if found else 0
    return int(found.number_of_edges()) - len(found) + parts


def _wheel_edges(neighbors: Neighbors) -> int:
    """Take a hub, and for its rim the largest 2-connected-looking part of its neighborhood."""
    best = 0
    for hub in sorted(neighbors, key=lambda node: -len(neighbors[node]))[:4]:
        around = nx.Graph()
        around.add_edges_from((i, j) for i in neighbors[hub] for j in neighbors[i] & neighbors[hub])
        # Pendants of the rim that also touch the hub drop out with the 2-core.
        rims = nx.connected_components(nx.k_core(around, 2)) if around else ()
        rim = max((len(part) for part in rims), default=0)
        if rim >= SMALLEST["wheel"]:
            best = max(best, 2 * rim)
    return best


def _lollipop_edges(neighbors: Neighbors, edges: int) -> int:
    """Take the largest clique that greedy growth finds, and the longest path leaving it."""
    head = max((_grow_clique(neighbors, start) for start in neighbors), key=len, default=set())
    in_head = len(head) * (len(head) - 1) // 2
    if len(head) < SMALLEST["lollipop head"]:
        return 0
    most = in_head + len(neighbors) - len(head)
    if edges - most > 2 * LARGEST_NOISE * most:
        return 0  # too dense for any tail, and the search would take long
    tail = _longest_tail(neighbors, head)
    return in_head + tail if tail >= SMALLEST["lollipop tail"] else 0


def _grow_clique(neighbors: Neighbors, start: int) -> set[int]:
    clique, candidates = {start}, set(neighbors[start])
    while candidates:
        chosen = max(candidates, key=lambda node: (len(candidates & neighbors[node]), -node))
        clique.add(chosen)
        candidates &= neighbors[chosen]
    return clique


def _longest_tail(neighbors: Neighbors, head: set[int]) -> int:
    """Search depth first for the longest path that starts in the head and stays outside it."""
    longest, steps = 0, 0
    outside = set(neighbors) - head
    for first in sorted({j for i in head for j in neighbors[i] & outside}):
        stack: list[tuple[int, frozenset[int]]] = [(first, frozenset([first]))]
        while stack and steps < SEARCH_STEPS:
            node, path = stack.pop()
            steps += 1
            longest = max(longest, len(path))
            stack.extend((j, path | {j}) for j in neighbors[node] & outside if j not in path)
    return longest


def _grid_edges(neighbors: Neighbors, edges: int) -> int:
    """Grow a rectangle from every square, a whole line of new nodes at a time."""
    nodes = len(neighbors)
    most = 2 * nodes
    if edges - most > LARGEST_NOISE * most:
        return 0
    best = 0
    for square in _squares(neighbors):
        for turned in (False, True):
            rows = [list(row) for row in (zip(*square, strict=True) if turned else square)]
            height, width = _grow_rectangle(neighbors, rows)
            best = max(best, height * (width - 1) + width * (height - 1))
        if edges - best <= best * 0.02:
            break  # nothing left to explain
    return best


def _squares(neighbors: Neighbors) -> Iterator[list[list[int]]]:
    """Yield the 4-cycles, each once, as two rows of two."""
    for a in neighbors:
        for d in neighbors:
            if d <= a:
                continue
            common = sorted(neighbors[a] & neighbors[d])
            for index, b in enumerate(common):
                for c in common[index + 1 :]:
                    if a < b:
                        yield [[a, b], [c, d]]


def _grow_rectangle(neighbors: Neighbors, rows: list[list[int]]) -> tuple[int, int]:
    used = {node for row in rows for node in row}
    grown = True
    while grown:
        grown = False
        for _ in range(4):  # down, then each other side by turning the rectangle
            line = _next_line(neighbors, rows[-1], used)
            if line:
                rows.append(line)
                used.update(line)
                grown = True
            rows = [list(row) for row in zip(*rows[::-1], strict=True)]
    return len(rows), len(rows[0])


def _next_line(neighbors: Neighbors, border: list[int], used: set[int]) -> list[int]:
    """Find unused nodes, each joined to one of the border and to the one before it."""
    stack: list[list[int]] = [[node] for node in sorted(neighbors[border[0]] - used)]
    while stack:
        line = stack.pop()
        if len(line) == len(border):
            return line
        fitting = neighbors[border[len(line)]] & neighbors[line[-1]]
        stack.extend([*line, node] for node in sorted(fitting) if node not in used | set(line))
    return []
