"""What may vary: the learned distribution around the prototype, read change by change.

Probabilities were learned to be as open as certainty and typicality allow, so what is closed is
what the model or the class insists on.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from gnninterpreter.batches import present_nodes
from gnninterpreter.distribution import GraphDistribution
from gnninterpreter.distribution.pairs import pair_ends
from gnninterpreter.spec import Block, Categorical

LEAST = 0.01
Places = list[tuple[int, ...]]


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


def variations(distribution: GraphDistribution, least: float = LEAST) -> list[Variation]:
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
    alone: Places = [(w,) for w in range(len(here))]
    parts: list[tuple[str, tuple[Block, ...], tuple[Tensor, ...], Places, list[bool]]] = [
        ("node", spec.nodes, distribution.node_logits, alone, here),
        ("edge", spec.edges, distribution.edge_feature_logits, list(ends), is_edge),
    ]
    for kind, blocks, logits, places, there_is in parts:
        for block, latent in zip(blocks, logits, strict=True):
            if not isinstance(block, Categorical):
                continue
            for place, there, chances in zip(
                places, there_is, latent[0].softmax(-1).tolist(), strict=True
            ):
                top = max(range(len(chances)), key=chances.__getitem__)
                found += [
                    Variation(kind, tuple(number[w] for w in place), block.names[c], chance)
                    for c, chance in enumerate(chances)
                    if there and c != top
                ]
    kept = [variation for variation in found if variation.probability >= least]
    return sorted(kept, key=lambda variation: -variation.probability)
