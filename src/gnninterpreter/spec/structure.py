"""Derived columns that come with the library: degrees, walks, Laplacian vectors, clustering.

Each is written once for weights between 0 and 1. On discrete graphs it equals what PyG's transform
of that name gives; on soft ones it has a slope, but for Laplacian vectors, which jump.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch_geometric.data import Data

from gnninterpreter.spec.blocks import Derived
from gnninterpreter.spec.derived import register_derived
from gnninterpreter.spec.spec import GraphSpec

# Entries of all matrices that are computed at once, which bounds memory.
MOST_ENTRIES = 20_000_000
TINY = 1e-12

Dense = Callable[[Tensor, Derived], Tensor]


def adjacencies(data: Data) -> list[tuple[Tensor, Tensor]]:
    """Edges as padded [B, N, N], target first, and which [B, N] are nodes, in several parts."""
    sizes = data.batch.bincount() if data.batch.numel() else data.batch.new_zeros(1)
    x = data.get("x")
    dtype = x.dtype if x is not None and x.is_floating_point() else torch.get_default_dtype()
    source, target = data.edge_index
    owner, first, most = data.batch[source], sizes.cumsum(0) - sizes, int(sizes.max())
    found = []
    step = max(1, MOST_ENTRIES // max(most, 1) ** 2)
    for start, part in zip(range(0, len(sizes), step), torch.split(sizes, step), strict=True):
        mine = (owner >= start) & (owner < start + step)
        rows = owner[mine]
        places = (rows - start, target[mine] - first[rows], source[mine] - first[rows])
        weight = torch.zeros(len(part), most, most, dtype=dtype, device=source.device)
        weight.index_put_(places, weight.new_ones(len(rows)), accumulate=True)
        found.append((weight, torch.arange(most, device=part.device) < part.unsqueeze(1)))
    return found


def _from_dense(dense: Dense) -> Callable[[Data, Sequence[Derived], GraphSpec], list[Tensor]]:
    def compute(data: Data, blocks: Sequence[Derived], spec: GraphSpec) -> list[Tensor]:
        parts = adjacencies(data)
        return [
            torch.cat([dense(weight, block)[here] for weight, here in parts]) for block in blocks
        ]

    return compute


def _degree(weight: Tensor, block: Derived) -> Tensor:
    """Edges that leave each node, or arrive at it, [B, N, 1]; NaN beyond the setting ``most``."""
    degree = weight.sum(dim=2 if block.options.get("in_degree") else 1).unsqueeze(2)
    return degree.masked_fill(degree > block.options.get("most", torch.inf), torch.nan)


def _degree_one_hot(weight: Tensor, block: Derived) -> Tensor:
    """NaN where a node has more edges than there are columns, as PyG refuses it.

    With the setting ``beyond`` the last column stands for its degree and all above.
    """
    degree = _degree(weight, block)
    if block.options.get("beyond"):
        degree = degree.clamp_max(block.width - 1)
    columns = torch.arange(block.width, device=weight.device, dtype=weight.dtype)
    hot = (degree == columns).to(weight.dtype)
    return hot.masked_fill(degree >= block.width, torch.nan)


def _soft_degree_one_hot(weight: Tensor, block: Derived) -> Tensor:
    """Probability of each degree if every edge is there with its weight (a Poisson binomial)."""
    ends = weight if block.options.get("in_degree") else weight.mT
    shares = torch.nn.functional.one_hot(
        torch.zeros(ends.shape[:2], dtype=torch.long, device=weight.device), block.width
    ).to(weight.dtype)
    for other in range(ends.size(2)):
        edge = ends[..., other, None]
        more = torch.nn.functional.pad(shares[..., :-1], (1, 0))
        if block.options.get("beyond"):
            more[..., -1] += shares[..., -1]
        shares = shares + edge * (more - shares)
    return shares


def _profile(weight: Tensor, block: Derived) -> Tensor:
    """Degree, and least, largest, mean and spread of the degrees of its neighbours (Cai, 2018)."""
    degree = weight.sum(dim=1)
    ends = weight.mT
    others = degree.unsqueeze(1)
    most = float(degree.size(1))
    count = degree.clamp_min(TINY)
    mean = (ends * others).sum(2) / count
    spread = ((ends * others.square()).sum(2) / count - mean.square()).clamp_min(1e-5)
    spread = torch.where(spread <= 1e-5, torch.zeros_like(spread), spread).clamp_min(TINY).sqrt()
    columns = [
        degree,
        torch.where(degree > 0, most - (ends * (most - others)).amax(2), 0.0),
        (ends * others).amax(2),
        mean,
        torch.where(spread <= TINY**0.5, 0.0, spread),
    ]
    return torch.stack(columns, dim=2)


def _random_walk(weight: Tensor, block: Derived) -> Tensor:
    """Probability that a walk is back where it began after 1, 2, ... steps, [B, N, steps]."""
    edges = weight.mT
    step = edges / edges.sum(dim=2, keepdim=True).clamp_min(1.0)
    walk, back = step, [step.diagonal(dim1=1, dim2=2)]
    for _ in range(block.width - 1):
        walk = walk @ step
        back.append(walk.diagonal(dim1=1, dim2=2))
    return torch.stack(back, dim=2)


def _clustering(weight: Tensor, block: Derived) -> Tensor:
    """Share of the pairs of neighbours that are joined, [B, N, 1]; 0 with fewer than two."""
    both = torch.maximum(weight, weight.mT)
    both = both * (1 - torch.eye(both.size(1), device=both.device, dtype=both.dtype))
    closed = torch.einsum("bij,bjk,bik->bi", both, both, both)
    pairs = both.sum(2).square() - both.square().sum(2)
    return (closed / pairs.clamp_min(TINY)).unsqueeze(2)


def _laplacian(data: Data, blocks: Sequence[Derived], spec: GraphSpec) -> list[Tensor]:
    """Vectors of the smallest eigenvalues of the normalised Laplacian but the first.

    PyG draws their signs; here the entry that is furthest from 0 is positive. A graph with too few
    nodes has none, as PyG refuses it.
    """
    found: list[list[Tensor]] = [[] for _ in blocks]
    # Graphs one by one, for which a GPU would take longer.
    for weight, here in adjacencies(data.cpu()):
        for one, mask in zip(weight.double(), here, strict=True):
            size = int(mask.sum())
            vectors = _eigenvectors(one[:size, :size].mT)
            for block, into in zip(blocks, found, strict=True):
                wanted = vectors[:, 1 : block.width + 1]
                if wanted.size(1) < block.width:
                    wanted = torch.full((size, block.width), torch.nan, dtype=weight.dtype)
                into.append(wanted.to(weight))
    return [torch.cat(parts) for parts in found]


def laplacian(edges: Tensor) -> Tensor:
    """The symmetric normalised Laplacian of an adjacency matrix, loops left out, [N, N]."""
    edges = edges - edges.diagonal().diag()
    scale = edges.sum(1)
    scale = torch.where(scale > 0, scale.clamp_min(TINY).rsqrt(), 0.0)
    made = torch.eye(edges.size(0), dtype=edges.dtype) - scale[:, None] * edges * scale
    return (made + made.mT) / 2


def _eigenvectors(edges: Tensor) -> Tensor:
    vectors: Tensor = torch.linalg.eigh(laplacian(edges))[1]
    # Rounded first, so that of entries that are equal the first decides.
    furthest = vectors.abs().mul(1e6).round().argmax(dim=0, keepdim=True)
    return vectors * vectors.gather(0, furthest).sign()


for _name, _dense in (
    ("degree", _degree),
    ("local degree profile", _profile),
    ("random walk", _random_walk),
    ("clustering", _clustering),
):
    register_derived(_name, _from_dense(_dense), _dense)
register_derived("degree one-hot", _from_dense(_degree_one_hot), _soft_degree_one_hot)
register_derived("laplacian", _laplacian)
