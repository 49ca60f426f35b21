"""A spec as a model takes it: constants on edges, codes as numbers, a name for each output."""

from __future__ import annotations

from dataclasses import replace

from gnninterpreter.errors import ModelError
from gnninterpreter.models.outputs import OutputReader
from gnninterpreter.models.task import Task
from gnninterpreter.spec import Block, Categorical, Continuous, Derived, GraphSpec
from gnninterpreter.spec.encoding import coded

# Names of classes in a message.
MOST_NAMED = 12


def constant(block: Block) -> Block:
    """A block of the same columns that says the same of every edge."""
    if isinstance(block, Categorical) and block.encoding == "index":
        return replace(block, size=1, names=block.names[:1], colors=block.colors[:1])
    if isinstance(block, Derived):
        return Continuous(block.width, 0.0, 0.0, block.names, block.name)
    if isinstance(block, Categorical):
        values = tuple(float(i == 0) for i in range(block.width))
        return Continuous(block.width, values, values, block.names[: block.width], block.name)
    return replace(block, high=block.low)


def coded_by_numbers(spec: GraphSpec) -> GraphSpec | None:
    """The spec of the same codes as floats; None where there are no codes, or floats already."""
    blocks = (*spec.nodes, *spec.edges)
    if not any(map(coded, blocks)) or spec.has_edge_types or "codes" in spec.metadata:
        return None
    note = "the model takes no whole numbers: codes are given to it as floats"
    said = "; ".join(filter(None, [spec.metadata.get("note"), note]))
    return replace(spec, metadata={**spec.metadata, "codes": "numbers", "note": said})


def named_columns(spec: GraphSpec, reader: OutputReader, given: bool) -> GraphSpec:
    """Give each column of the outputs a name."""
    task, count = reader.task, reader.columns
    counted = Task.MULTICLASS.names(spec.num_classes)
    # Names that were only counted off the labels end where the data does; the model knows of more.
    if not given and spec.class_names == counted and (count >= len(counted) or not task.exclusive):
        return replace(spec, class_names=task.names(count))
    if spec.num_classes != count:
        # Steps of an order, "more than 0", "more than 1", are one fewer than what they divide.
        steps = ", or where these are steps between ordered classes pass forward= that returns a "
        steps = f"{steps}probability for each class" * (spec.num_classes == count + 1 and not given)
        named = ", ".join(spec.class_names[:MOST_NAMED]) + ", ..." * (spec.num_classes > MOST_NAMED)
        raise ModelError(
            f"the model returns scores for {task.counted(count)} but the spec names "
            f"{spec.num_classes} ({named}); give one name for each output{steps}"
        )
    return spec
