"""What the restarts came to, and which of the three answers each graph they found is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_geometric.data import Data

from gnninterpreter.evidence.thresholds import OUTLYING_PERCENTILE, SHORTCUT_PERCENTILE
from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.isomorphism import GraphNumbers
from gnninterpreter.objective.memory import graph_keys
from gnninterpreter.schema import Amount, Cosine, Count, Percent, Share
from gnninterpreter.spec import GraphSpec


@dataclass(frozen=True)
class Restart:
    """What one restart came to.

    Args:
        probability: Class probability of its most probable graph.
        mean_probability: Mean class probability over its samples.
        nodes: Nodes of its most probable graph.
        edges: Edges of it.
        similarity: Cosine similarity of its embedding to the class mean; None without statistics.
        feasible: Whether it is connected, within the size limit and has three nodes or more.
        entropy: Entropy of its distribution, in bits.
        reason: Why it ended.
        iterations: Gradient iterations it took.
        percentile: Share of the real graphs of the class that are at least as strange, in percent;
            None where that is not known.
        certain: Whether the model is as certain of that graph as was asked for.
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
    # Graphs that are the same to the letter are put together first, all at once.
    empty = found.empty.tolist()
    alike: dict[int, list[int]] = {}
    for r, key in enumerate(graph_keys(found, ordered=False).tolist()):
        if restarts[r].probability >= least_probability and not empty[r]:
            alike.setdefault(key, []).append(r)
    numbers = GraphNumbers()
    known = {numbers.of(core, spec) for core in cores}
    graphs: dict[int, Data] = {}
    groups: dict[int, list[int]] = {}
    for members in alike.values():
        data = found[members[0]].to_data_list()[0]
        number = numbers.of(data, spec)
        graphs.setdefault(number, data)
        groups.setdefault(number, []).extend(members)
    modes = [
        Mode(
            graphs[number],
            restarts[members[0]].probability,
            tuple(sorted(members)),
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
