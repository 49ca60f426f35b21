"""The graphs of a stored audit, as PyG data to train on."""

from __future__ import annotations

from pathlib import Path

from torch_geometric.data import Data

from gnninterpreter.arguments import path_of
from gnninterpreter.audit.findings import KIND, Severity
from gnninterpreter.errors import DataError, GNNInterpreterError
from gnninterpreter.files import read_json
from gnninterpreter.interchange import graph_from_json
from gnninterpreter.spec import GraphSpec

FILE = "audit.json"
# Hosts come from the user's own data, so that there is no size that would be too large.
MOST = 10**7


def load_graphs(
    path: str | Path,
    severity: Severity | str = Severity.LOW,
    *,
    labeled: bool = False,
    contrasts: bool = False,
) -> list[Data]:
    """Read the graphs that prove the findings of an audit; nothing is unpickled.

    Args:
        path: The folder that ``gnninterpreter audit --out`` wrote, or its ``audit.json``.
        severity: Only those of findings as grave as this, or graver.

    Keyword Args:
        labeled: Only those whose true class is known, which is then in ``y``: what can be trained
            on.
        contrasts: Also those with the true patterns for which look-alikes pass, last. A model that
            is trained with look-alikes alone learns to see no pattern at all.

    Returns:
        The graphs as the model takes them, the gravest findings first.

    Raises:
        DataError: If it is no audit, or one without its graphs.

    Example:
        >>> extra = load_graphs("audit", labeled=True, contrasts=True)  # doctest: +SKIP
        >>> loader = DataLoader([*dataset, *extra])  # doctest: +SKIP
    """
    file = path_of("path", path, DataError)
    file = file / FILE if file.is_dir() else file
    try:
        limit = Severity(severity)
    except ValueError:
        names = ", ".join(map(str, Severity))
        raise DataError(f"severity must be one of {names} (got {severity!r})") from None
    try:
        values = read_json(file)
    except OSError as error:
        raise DataError(
            f"cannot read {file} ({error.strerror}); give the folder that "
            "'gnninterpreter audit MODEL --out FOLDER' wrote"
        ) from error
    except ValueError as error:
        raise DataError(f"{file} is no JSON ({error}); make the audit again") from error
    if not isinstance(values, dict) or values.get("kind") != KIND:
        raise DataError(f"{file} is no audit; 'gnninterpreter audit MODEL --out FOLDER' makes one")
    try:
        spec = GraphSpec.from_json(values["spec"])
        found = [f for f in values["findings"] if Severity(f["severity"]).rank <= limit.rank]
        stored = [graph for finding in found for graph in finding["graphs"]]
        stored += values["contrasts"] if contrasts else []
        graphs = [graph_from_json(g, spec, most_nodes=MOST, most_edges=MOST) for g in stored]
    except KeyError as error:
        raise DataError(
            f"{file} has no {error}; it was written without the graphs, so make the audit again"
        ) from error
    except (TypeError, ValueError, GNNInterpreterError) as error:
        raise DataError(f"{file} is damaged ({error}); make the audit again") from error
    return [graph for graph in graphs if not labeled or graph.get("y") is not None]
