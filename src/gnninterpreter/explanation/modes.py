"""What the restarts came to, which of the answers each graph is, and what may vary around it.

Probabilities were learned to be as open as certainty and typicality allow, so what is closed is
what the model or the class insists on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_geometric.data import Data

from gnninterpreter.batches import present_nodes
from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.distribution.pairs import pair_ends
from gnninterpreter.evidence.thresholds import OUTLYING_PERCENTILE, SHORTCUT_PERCENTILE
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.isomorphism import GraphNumbers
from gnninterpreter.schema import Amount, Cosine, Count, Percent, Share
from gnninterpreter.spec import Categorical, GraphSpec


@dataclass(frozen=True)
class Restart:
    """What one restart came to: its most probable graph, and the samples of its distribution.

    It is feasible where it is connected, within the size limit and has three nodes or more.
    Similarity is that of its embedding to the class mean, entropy in bits, the percentile the share
    of the real graphs of the class that are at least as strange; None stands for what is not known.
    It is certain where the model is as certain of the graph as was asked for.
    """

    probability: Share
    mean_probability: Share
    nodes: Count
    edges: Count
    similarity: Cosine | None
    feasible: bool
    entropy: Amount
    reason: str
    iterations: Count
    percentile: Percent | None = None
    certain: bool = True


@dataclass(frozen=True)
class Mode:
    """A distinct explanation graph, and the restarts that found it with their share of all.

    Its kind is ``"core"`` where it is one of the cores, ``"prototype"`` where it is certain and
    typical, ``"shortcut"`` where it is certain and like nothing real, ``"certain"`` where it is not
    known or not clear how typical it is, ``"uncertain"`` where the model is not certain of it.
    """

    graph: Data
    probability: float
    restarts: tuple[int, ...]
    share: float
    kind: str = "certain"


def distinct_modes(
    found: DenseGraphs,
    restarts: Sequence[Restart],
    cores: Sequence[Data],
    spec: GraphSpec,
    least_probability: float,
) -> list[Mode]:
    """The distinct graphs among those of all restarts, most frequent first."""
    empty = found.empty.tolist()
    likely = [
        r
        for r, restart in enumerate(restarts)
        if restart.probability >= least_probability and not empty[r]
    ]
    if not likely:
        return []
    numbers = GraphNumbers()
    known = {numbers.of(core, spec) for core in cores}
    graphs: dict[int, Data] = {}
    groups: dict[int, list[int]] = {}
    for r, data in zip(likely, found[likely].to_data_list(), strict=True):
        number = numbers.of(data, spec)
        graphs.setdefault(number, data)
        groups.setdefault(number, []).append(r)
    modes = [
        Mode(
            graphs[number],
            restarts[members[0]].probability,
            tuple(members),
            len(members) / len(restarts),
            "core" if number in known else _kind(restarts[members[0]]),
        )
        for number, members in groups.items()
    ]
    return sorted(modes, key=lambda mode: (-len(mode.restarts), restarts[mode.restarts[0]].edges))


def _kind(restart: Restart) -> str:
    """Which of the answers a graph is that is no core."""
    if not restart.certain:
        return "uncertain"
    if restart.percentile is None:
        return "certain"
    if restart.percentile < SHORTCUT_PERCENTILE:
        return "shortcut"
    return "prototype" if restart.percentile >= OUTLYING_PERCENTILE else "certain"


@dataclass(frozen=True)
class Variation:
    """One thing that may be otherwise than in the prototype.

    Its kind is ``"edge gone"``, ``"edge added"``, ``"node added"``, or ``"node"`` or ``"edge"`` for
    another category, the value. Nodes are numbered as in `Explanation.best`; of a node that is
    added it is the one it hangs on.
    """

    kind: str
    nodes: tuple[int, ...]
    value: str
    probability: float

    def __str__(self) -> str:
        where = "-".join(str(node) for node in self.nodes)
        said = {
            "edge gone": f"edge {where} may be missing",
            "edge added": f"edge {where} may be added",
            "node added": f"a node may hang on node {where}",
            "node": f"node {where} may be {self.value}",
            "edge": f"edge {where} may be {self.value}",
        }[self.kind]
        return f"{said} ({self.probability:.0%})"


def variations(distribution: GraphDistribution, least: float = 0.01) -> list[Variation]:
    """What may be otherwise than in the mode, most probable first."""
    spec, mode = distribution.spec, distribution.mode()
    present = present_nodes(mode)[0]
    number = (present.cumsum(0) - 1).tolist()
    here = present.tolist()
    target, source = pair_ends(distribution.num_candidates, spec.directed, present.device)
    ends = list(zip(source.tolist(), target.tolist(), strict=True))
    is_edge = distribution.to_pairs(mode.weight)[0].gt(0.5).tolist()
    found = []
    for (u, v), theta, there in zip(
        ends, distribution.edge_probability[0].tolist(), is_edge, strict=True
    ):
        if not (here[u] or here[v]):
            continue
        nodes = tuple(number[w] for w in (u, v) if here[w])
        added = "edge added" if len(nodes) == 2 else "node added"
        found.append(
            Variation("edge gone" if there else added, nodes, "", 1 - theta if there else theta)
        )
    # Nodes as `best` numbers them; nothing where there is no such node or edge.
    alone = [(number[w],) if there else () for w, there in enumerate(here)]
    pairs = [
        (number[u], number[v]) if there else () for (u, v), there in zip(ends, is_edge, strict=True)
    ]
    latents = zip(spec.nodes, distribution.node_logits, strict=True)
    more = zip(spec.edges, distribution.edge_feature_logits, strict=True)
    for kind, places, blocks in (("node", alone, latents), ("edge", pairs, more)):
        for block, latent in blocks:
            if not isinstance(block, Categorical):
                continue
            for place, chances in zip(places, latent[0].softmax(-1).tolist(), strict=True):
                top = max(range(len(chances)), key=chances.__getitem__)
                found += [
                    Variation(kind, place, block.names[c], chance)
                    for c, chance in enumerate(chances)
                    if place and c != top
                ]
    kept = [variation for variation in found if variation.probability >= least]
    return sorted(kept, key=lambda variation: -variation.probability)
