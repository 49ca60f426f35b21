"""How every command ends: a table or one JSON document on standard output, files in a folder.

A command returns an `Answer` and prints nothing itself. An error that a user can mend is one
sentence on standard error, never a traceback. Anything else is a fault of the library, and its
traceback is what a bug report needs.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec

import typer

from gnninterpreter.errors import GNNInterpreterError, ModelError
from gnninterpreter.files import check_writable, finite
from gnninterpreter.parallel import limit_threads

if TYPE_CHECKING:
    from rich.text import Text
    from torch_geometric.data import Data

    from gnninterpreter.audit import Audit
    from gnninterpreter.evidence import Verdict
    from gnninterpreter.explanation import Explanation, ExplanationSet
    from gnninterpreter.spec import GraphSpec

USER_ERROR = 2
# What a shell reports for a process that SIGINT ended: 128 + 2.
INTERRUPTED = 130

P = ParamSpec("P")
REPORT = "report.html"
EXEMPLARS = 5
UNCHECKED = "not checked"
STYLES = {"good": "green", "caution": "yellow", "bad": "bold red"}


def check_output(folder: Path, overwrite: bool) -> None:
    """Check, before any work is done, that a run can be written to a folder."""
    from gnninterpreter.arguments import path_of
    from gnninterpreter.explanation.storage import check_folder

    check_folder(path_of("--out", folder), overwrite)
    check_writable(folder, "--out")


def write_output(
    result: ExplanationSet,
    folder: Path,
    overwrite: bool,
    model: Any = None,
    dataset: Any = None,
    *,
    forward: Callable[..., Any] | None = None,
    audit: Audit | None = None,
) -> Path:
    """Write the report and then the run, whose index is what makes the folder a run."""
    check_output(folder, overwrite)
    try:
        report = result.report(folder / REPORT, model, dataset, forward=forward, audit=audit)
    except ModelError:
        # A model that does not answer twice alike costs the additions, not the run.
        report = result.report(folder / REPORT, audit=audit)
    result.save(folder, overwrite=overwrite)
    return report


@contextlib.contextmanager
def only_results(wanted: bool) -> Iterator[None]:
    """Send what anything else prints to standard error, so that standard output is one document."""
    if not wanted:
        yield
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        with contextlib.suppress(OSError):  # what other processes and C code print
            kept = os.dup(1)
            stack.callback(os.close, kept)
            stack.callback(os.dup2, kept, 1)
            os.dup2(2, 1)
        yield


def echo_json(values: Any) -> None:
    """Print one JSON document on standard output."""
    typer.echo(json.dumps(finite(values), indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    title: str,
    columns: Mapping[str, str],
    rows: Iterable[Iterable[str | Text]],
    *,
    caption: str | None = None,
    lines: bool = False,
    width: int = 0,
) -> None:
    """Print a table.

    Columns are headings with ``"left"``, ``"right"``, or ``"fold"`` where cells may be broken.
    Without lines between rows they are as narrow as can be. The table may take ``width`` letters at
    the fewest: a narrow terminal would leave figures out.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=Text(title),
        caption=caption,
        title_justify="left",
        caption_justify="left",
        show_lines=lines,
        box=box.HEAVY_HEAD if lines else None,
        padding=(0, 1) if lines else (0, 1, 0, 0),
    )
    for name, kind in columns.items():
        table.add_column(
            Text(name),
            justify="right" if kind == "right" else "left",
            no_wrap=kind != "fold",
            overflow="fold" if kind == "fold" else "ellipsis",
        )
    for row in rows:
        table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in row))
    console = Console(file=sys.stdout)
    console.width = max(console.width, width)
    console.print(table)


def echo_table(result: ExplanationSet) -> None:
    """Print what every class came to, and why."""
    kinds = {explanation.target.kind for explanation in result.values()}
    noun = kinds.pop() if len(kinds) == 1 else "target"
    said, what = ("p", "mean probability of samples")
    if not all(explanation.target.probable for explanation in result.values()):
        said, what = ("says", "what the model says of samples, on average")
    graphs = {"class": "the class", "label": "graphs with the label"}.get(noun, "such graphs")
    print_table(
        f"What {result.model_name} has learned",
        {noun: "fold", **dict.fromkeys((said, "prototype", "typical", "core"), "right")}
        | {"verdict": "fold"},
        map(_cells, result.values()),
        caption=f"{said}: {what}; prototype: nodes / edges\n"
        "typical: share of real graphs that are less typical than the prototype\n"
        f"core: share of {graphs} that holds it, times as often as elsewhere",
        lines=True,
    )
    for explanation in result.values():
        for line in _formula_lines(explanation):
            typer.echo(f"{explanation.name}: {line}")
        counts = explanation.evidence["counts"]
        told = [counts.sentence] if counts.passed else []
        for reason in (*explanation.verdict.reasons, *told, *explanation.notes):
            typer.echo(f"{explanation.name}: {reason}")
    fooled = [line for explanation in result.values() for line in _shortcut_lines(explanation)]
    if fooled:
        typer.echo("shortcuts (they have what was asked for, and are unlike real graphs):")
    for line in fooled:
        typer.echo(f"  {line}")


def _cells(one: Explanation) -> Iterator[str | Text]:
    """The row of an explanation."""
    from gnninterpreter.evidence.evidence import HAS_NO_CORE
    from gnninterpreter.report.words import typical_percentile

    target, core, percentile = one.target, one.core, typical_percentile(one)
    yield one.name
    means = [mean for mean, _ in one.sampled_outputs] or one.class_probabilities
    written = target.written(means).removeprefix(f"{target.measure} ")
    yield f"{one.probability.mean:.3f}" if target.probable else written
    yield f"{one.num_nodes} / {one.num_edges}"
    yield UNCHECKED if percentile is None else f"{percentile:.0f}%"
    if core is None or core.coverage is None:
        yield "none" if one.evidence["core covers"].sentence == HAS_NO_CORE else UNCHECKED
    else:
        yield f"{100 * core.coverage:.0f}%" + ("" if core.lift is None else f", x {core.lift:.1f}")
    yield verdict_text(one.verdict)


def _formula(graph: Data, spec: GraphSpec, piece: bool = False) -> str:
    """A graph in SMILES; nothing where it is no molecule, or nobody knows its bonds."""
    from gnninterpreter.chem.drawing import read_molecule
    from gnninterpreter.chem.reading import reading_of

    reading = reading_of(spec)
    known = reading is not None and reading.bond is not None
    molecule = read_molecule(graph, spec, piece=piece) if known else None
    return molecule.smiles if molecule is not None else ""


def _formula_lines(explanation: Explanation) -> Iterator[str]:
    """Prototype and core in SMILES, in a line, where they are molecules."""
    core = explanation.core
    found = {"prototype": _formula(explanation.best, explanation.spec)}
    found["core"] = "" if core is None else _formula(core.graph, explanation.spec, piece=True)
    if any(found.values()):
        yield ", ".join(f"{name} {smiles}" for name, smiles in found.items() if smiles)


def _shortcut_lines(explanation: Explanation) -> Iterator[str]:
    """What fools the model, one line each."""
    from gnninterpreter.report.words import shortcut_words

    for shortcut in explanation.shortcuts:
        size = f"{shortcut.num_nodes} nodes, {shortcut.num_edges} edges"
        size = _formula(shortcut.graph, explanation.spec) or size
        words = shortcut_words(shortcut, explanation.target)
        yield f"{explanation.name}: {size}: {words[:1].lower()}{words[1:]}"


def verdict_text(verdict: Verdict) -> Text:
    """A verdict in the colour of its level."""
    from rich.text import Text

    return Text(verdict.word, style=STYLES[verdict.level])


def with_graphs(result: ExplanationSet) -> dict[str, Any]:
    """All figures of a run, verdicts and evidence among them, and its graphs as plain values."""
    from gnninterpreter.interchange import graph_to_json
    from gnninterpreter.report.words import typical_percentile

    values = result.summary()
    for entry, explanation in zip(values["classes"], result.values(), strict=True):
        entry["best"] = graph_to_json(explanation.best, result.spec)
        entry["modes"] = [
            {"graph": graph_to_json(mode.graph, result.spec)}
            | {name: getattr(mode, name) for name in ("probability", "restarts", "kind")}
            for mode in explanation.modes()
        ]
        entry["typical_percentile"] = typical_percentile(explanation)
        entry["cores"] = [core.to_json() for core in explanation.cores]
        entry["shortcuts"] = [shortcut.to_json() for shortcut in explanation.shortcuts]
        entry["exemplars"] = [real.to_json() for real in explanation.real_graphs[:EXEMPLARS]]
    return values


@dataclass(frozen=True)
class Answer:
    """What a command came to: what ``--json`` prints, the same as text, files by what they are."""

    values: Callable[[], Any]
    show: Callable[[], object] = lambda: None
    files: Mapping[str, Path] = field(default_factory=dict)
    code: int = 0


def plainly(command: Callable[P, Answer | None]) -> Callable[P, None]:
    """Run a command on one thread, unless it has ``threads``, and print its answer.

    Exit code 2 for a user's error, 130 for Ctrl-C.
    """

    @functools.wraps(command)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> None:
        as_json = bool(kwargs.get("as_json"))
        threads: Any = kwargs.get("threads", 1)
        try:
            limit_threads(threads)
            with only_results(as_json):
                answer = command(*args, **kwargs) or Answer(lambda: None)
                values = answer.values() if as_json else None
            if as_json:
                echo_json(values)
            else:
                answer.show()
            for what, path in answer.files.items():
                typer.echo(f"{what}: {path.resolve()}", err=as_json)
        except GNNInterpreterError as error:
            # Messages of torch and the like come with line breaks inside.
            typer.echo(f"error: {' '.join(str(error).split())}", err=True)
            raise typer.Exit(USER_ERROR) from error
        except KeyboardInterrupt as interrupt:
            typer.echo(": ".join(["interrupted", *map(str, interrupt.args)]), err=True)
            raise typer.Exit(INTERRUPTED) from interrupt
        if answer.code:
            raise typer.Exit(answer.code)

    return guarded
