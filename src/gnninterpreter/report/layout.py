"""Where to put the nodes: a layout that needs numpy only and gives the same picture every time.

Each connected part is laid out by stress majorisation (Gansner, Koren and North, 2004) from several
fixed starts, and in rows. The tidiest picture wins: the one with the fewest crossings and the
fewest nodes in each other's way. The parts are then set side by side, and the whole is turned and
scaled to fill its box.
"""

from __future__ import annotations

from collections.abc import Hashable

import networkx as nx
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Positions = dict[Hashable, tuple[float, float]]

ROUNDS = 200
TOLERANCE = 2e-4
MANY = 120
"""Graphs of more nodes than this are placed once and roughly; nobody reads them node by node."""
ROOTS = 4
"""Nodes from which pictures in rows are tried, at the most."""
NEAR = 0.28
"""A node closer than this to another's edge counts as lying on it (edges have length 1)."""


def layout(graph: nx.Graph, aspect: float = 1.4, start: Positions | None = None) -> Positions:
    """Place the nodes of a graph so that neighbours are about one unit apart.

    The picture is meant for a box of width by height ``aspect``. Nodes keep the places of ``start``
    and the others come beside them, so that graphs on the same nodes can be compared.
    """
    plain = nx.Graph()
    plain.add_nodes_from(graph.nodes)
    plain.add_edges_from((u, v) for u, v in graph.edges if u != v)
    parts = [plain.subgraph(part) for part in nx.connected_components(plain)]
    parts.sort(key=lambda part: -len(part))
    positions: Positions = {}
    if start is not None:
        for part in [part for part in parts if any(node in start for node in part)]:
            positions.update(_named(part, _beside(part, start)))
        parts = [part for part in parts if not any(node in start for node in part)]
    placed = [_place(part, aspect) for part in parts]
    corners = _shelves([np.ptp(at, axis=0) + 1.0 for at in placed], aspect)
    below = np.zeros(2)
    if positions:
        known = np.array(list(positions.values()))
        below = np.array([known[:, 0].min(), known[:, 1].max() + 1.0])
    for part, at, corner in zip(parts, placed, corners, strict=True):
        positions.update(_named(part, at - at.min(axis=0) + corner + below))
    return positions


def _named(part: nx.Graph, at: Array) -> Positions:
    return {node: (float(x), float(y)) for node, (x, y) in zip(part, at, strict=True)}


def fit(positions: Positions, width: float, height: float, margin: float) -> Positions:
    """Scale and centre positions so that they fill a box, keeping their proportions."""
    if not positions:
        return {}
    at = np.array(list(positions.values()))
    middle = (at.max(axis=0) + at.min(axis=0)) / 2
    room = np.array([width - 2 * margin, height - 2 * margin])
    # Small graphs are not blown up until an edge spans the whole box.
    scale = min(
        float((room / np.maximum(np.ptp(at, axis=0), 1e-9)).min()), 0.48 * min(width, height)
    )
    moved = (at - middle) * scale + np.array([width / 2, height / 2])
    return {
        node: (round(float(x), 1), round(float(y), 1))
        for node, (x, y) in zip(positions, moved, strict=True)
    }


def _place(part: nx.Graph, aspect: float) -> Array:
    if len(part) == 1:
        return np.zeros((1, 2))
    distance, index = _distances(part)
    edges = np.array([(index[u], index[v]) for u, v in part.edges])
    pictures = list(_majorise(np.stack(_starts(part, distance)), distance))
    if len(part) <= MANY:
        pictures += _layered(edges, distance)
    costs = [_untidiness(at, edges, distance) for at in pictures]
    return _turned(pictures[int(np.argmin(np.round(costs, 4)))], edges, aspect)


def _distances(part: nx.Graph) -> tuple[Array, dict[Hashable, int]]:
    """Steps between nodes, and the place of each node in that matrix."""
    return nx.floyd_warshall_numpy(part), {node: i for i, node in enumerate(part)}


def _starts(part: nx.Graph, distance: Array) -> list[Array]:
    """Fixed guesses: classical scaling, a circle, the planar drawing if there is one, noise."""
    n = len(part)
    centred = distance**2 - (distance**2).mean(axis=0)
    centred = -0.5 * (centred - centred.mean(axis=1, keepdims=True))
    values, vectors = np.linalg.eigh((centred + centred.T) / 2)
    starts = []
    if n > 2:
        scaled = vectors[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 1e-6))
        # Equal eigenvalues or twins can put nodes on one point, where nothing could part them.
        starts.append(scaled + 1e-3 * np.random.default_rng(0).standard_normal((n, 2)))
    order = {node: i for i, node in enumerate(nx.dfs_preorder_nodes(part))}
    turn = np.array([2 * np.pi * order[node] / n for node in part])
    starts.append(np.stack([np.cos(turn), np.sin(turn)], axis=1) * n / 6)
    planar, embedding = nx.check_planarity(part)
    if planar and n > 3:
        at = nx.combinatorial_embedding_to_pos(embedding)
        grid = np.array([at[node] for node in part], dtype=np.float64)
        starts.append(grid / max(float(np.ptp(grid, axis=0).max()), 1.0) * float(distance.max()))
    if n > MANY:
        return starts[:1]
    draws = 6 if n <= 40 else 1
    starts += [np.random.default_rng(seed).standard_normal((n, 2)) * 2 for seed in range(1, draws)]
    return starts


def _layered(edges: Array, distance: Array) -> list[Array]:
    """Rows of nodes equally far from one of those at the rim, where no edge runs along a row.

    Stress puts two nodes with the same many neighbours on nearly the same place, in the middle of
    them; here they come above and below. An edge along a row would pass behind the nodes between.
    """
    reach = distance.max(axis=1)
    pictures = []
    for root in np.flatnonzero(reach == reach.max())[:ROOTS]:
        if (distance[root, edges[:, 0]] == distance[root, edges[:, 1]]).any():
            continue
        at = np.zeros((len(distance), 2))
        at[:, 1] = distance[root]
        for row in np.unique(distance[root]):
            members = np.flatnonzero(distance[root] == row)
            at[members, 0] = np.arange(len(members)) - (len(members) - 1) / 2
        pictures.append(at)
    return pictures


def _beside(part: nx.Graph, start: Positions) -> Array:
    """Keep known places; move each other node to where its distances to all nodes ask it to be."""
    distance, index = _distances(part)
    known = [i for node, i in index.items() if node in start]
    free = [i for node, i in index.items() if node not in start]
    at = np.array([start.get(node, (0.0, 0.0)) for node in part])
    noise = np.random.default_rng(0).standard_normal(at.shape)
    for i in free:
        nearest = known[int(np.argmin(distance[i, known]))]
        at[i] = at[nearest] + noise[i]
    for _ in range(ROUNDS // 4):
        for i in free:
            others = np.arange(len(at)) != i
            away, wanted = at[i] - at[others], distance[i, others]
            length = np.maximum(np.linalg.norm(away, axis=1), 1e-6)
            aims = at[others] + away * (wanted / length)[:, None]
            at[i] = (aims / wanted[:, None] ** 2).sum(axis=0) / (1 / wanted**2).sum()
    return at


def _majorise(starts: Array, distance: Array) -> Array:
    """Minimise the sum of (|x_i - x_j| - d_ij)^2 / d_ij^2 by majorisation."""
    n = distance.shape[0]
    weight = np.divide(1.0, distance**2, out=np.zeros_like(distance), where=distance > 0)
    laplacian = np.diag(weight.sum(axis=1)) - weight
    inverse = np.linalg.inv(laplacian + 1.0 / n) - 1.0 / n
    pull = weight * distance
    at: Array = starts - starts.mean(axis=1, keepdims=True)
    for _ in range(ROUNDS if n <= MANY else ROUNDS // 8):
        lengths = np.linalg.norm(at[:, :, None] - at[:, None], axis=-1)
        ratio = pull / np.maximum(lengths, 1e-6)
        following: Array = inverse @ (ratio.sum(axis=-1, keepdims=True) * at - ratio @ at)
        moved = float(np.abs(following - at).max())
        at = following
        if moved < TOLERANCE:
            break
    return at


def _untidiness(at: Array, edges: Array, distance: Array) -> float:
    """Crossings, nodes that lie on foreign edges, nodes on each other, and a little stress."""
    lengths = np.linalg.norm(at[:, None] - at[None], axis=-1)
    off = ~np.eye(len(at), dtype=bool)
    stress = float((((lengths - distance) / np.maximum(distance, 1))[off] ** 2).mean())
    crowded = float((lengths[off] < 2 * NEAR).sum()) / 2
    a, b = at[edges[:, 0]], at[edges[:, 1]]
    along = b - a
    share = ((at[None] - a[:, None]) * along[:, None]).sum(-1) / np.maximum(
        (along**2).sum(-1)[:, None], 1e-9
    )
    foot = a[:, None] + share.clip(0, 1)[..., None] * along[:, None]
    near = np.linalg.norm(at[None] - foot, axis=-1) < NEAR
    near[np.arange(len(edges)), edges[:, 0]] = near[np.arange(len(edges)), edges[:, 1]] = False
    return _crossings(a, b) + 3.0 * float(near.sum()) + 10.0 * crowded + 2.0 * stress


def _crossings(a: Array, b: Array) -> float:
    def side(p: Array, q: Array, r: Array) -> Array:
        turn: Array = (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (
            q[..., 1] - p[..., 1]
        ) * (r[..., 0] - p[..., 0])
        return turn

    a1, b1, a2, b2 = a[:, None], b[:, None], a[None], b[None]
    apart = side(a1, b1, a2) * side(a1, b1, b2) < -1e-9
    return float((apart & (side(a2, b2, a1) * side(a2, b2, b1) < -1e-9)).sum()) / 2


def _turned(at: Array, edges: Array, aspect: float) -> Array:
    """Turn a picture to fill the box, with edges along the axes where that costs little."""
    along = at[edges[:, 1]] - at[edges[:, 0]]
    exact = np.arctan2(along[:, 1], along[:, 0])
    angles = np.concatenate([np.arange(0, 180, 5) * np.pi / 180, -exact, np.pi / 2 - exact])

    def merit(angle: float) -> float:
        extent = np.maximum(np.ptp(_rotated(at, angle), axis=0), 0.5)
        filling = 1.0 / max(float(extent[0]) / aspect, float(extent[1]))
        off_axis = np.abs((exact + angle + np.pi / 4) % (np.pi / 2) - np.pi / 4)
        return filling * (1 + 0.4 * float((off_axis < 0.03).mean()))

    merits = np.round([merit(float(angle)) for angle in angles], 6)
    return _rotated(at, float(angles[int(np.argmax(merits))]))


def _rotated(at: Array, angle: float) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    turned: Array = at @ np.array([[c, s], [-s, c]])
    return turned


def _shelves(sizes: list[Array], aspect: float) -> list[Array]:
    """Set boxes on shelves of about the same width, largest first; returns their corners."""
    if not sizes:
        return []
    area = sum(float(w * h) for w, h in sizes)
    width = max(float(np.sqrt(area * aspect)), *(float(w) for w, _ in sizes), 0.0)
    corners, x, y, shelf = [], 0.0, 0.0, 0.0
    for w, h in sizes:
        if x > 0 and x + w > width + 1e-9:
            x, y, shelf = 0.0, y + shelf, 0.0
        corners.append(np.array([x, y]))
        x, shelf = x + float(w), max(shelf, float(h))
    return corners
