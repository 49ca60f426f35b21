from __future__ import annotations

import io
from types import SimpleNamespace

import pytest
import torch
from rich.console import Console

import gnninterpreter as gi
from gnninterpreter.cli import progress as progress_module
from gnninterpreter.cli.progress import LiveProgress
from gnninterpreter.progress import Progress
from gnninterpreter.search import Snapshot

from . import lab

CLASSES = ["sparse", "dense"]


@pytest.fixture(scope="module")
def explanation():
    recipe = gi.Recipe.auto(iterations=20)
    result = gi.explain(
        lab.model, lab.graphs(), targets=1, restarts=2, recipe=recipe, progress=False
    )
    return result[1]


def look(phase: str, iteration: int, probability: list[float]) -> Snapshot:
    edges = torch.arange(1.0, len(probability) + 1)
    done = iteration / 100
    seen = SimpleNamespace(score=torch.tensor(probability), edges=edges)
    return Snapshot(phase, iteration, 100, lambda: (seen, None), done)  # type: ignore[arg-type, return-value]


def console(terminal: bool, **options: object) -> Console:
    return Console(
        file=io.StringIO(), force_terminal=terminal, width=80, height=25, legacy_windows=False,
        **options,
    )  # fmt: skip


def text(target: Console) -> str:
    return target.file.getvalue()  # type: ignore[attr-defined]


def rendered(progress: LiveProgress) -> str:
    target = Console(file=io.StringIO(), width=80, color_system=None)
    target.print(progress.table())
    return text(target)


def test_has_the_methods_of_the_protocol():
    progress: Progress = LiveProgress()
    assert all(callable(getattr(progress, name)) for name in dir(Progress) if name[0] != "_")


class TestPlain:
    def test_one_line_a_class(self, explanation):
        target = console(terminal=False)
        progress = LiveProgress(target)
        progress.begin("mine", ["called as forward(data)"], ["class 1"])
        progress.begin_class("class 1")
        for i in range(5):
            assert progress.look(look("gradient", 20 * i, [0.1, 0.9])) is None
        progress.end_class(explanation)
        progress.end()
        first, second, third = text(target).splitlines()
        assert (first, second) == ("explaining mine", "  called as forward(data)")
        assert third.startswith(f"class 1: probability {explanation.probability}, ")
        assert "nodes" in third
        assert "edges" in third
        assert "converged" in third

    def test_names_are_not_markup(self):
        target = console(terminal=False)
        LiveProgress(target).begin("[red]mine[/red]", ["[bold]x"], [])
        assert text(target) == "explaining [red]mine[/red]\n  [bold]x\n"

    def test_in_a_notebook(self, explanation):
        progress = LiveProgress(console(terminal=False, force_jupyter=True))
        progress.begin("mine", ["called as forward(data)"], ["class 1"])
        assert progress.look(look("gradient", 20, [0.5])) is None
        progress.end_class(explanation)
        progress.end()

    def test_closed_stream_ends_the_display_not_the_run(self, explanation):
        target = console(terminal=False)
        target.file.close()
        progress = LiveProgress(target)
        progress.begin("mine", [], ["class 1"])
        progress.begin_class("class 1")
        assert progress.look(look("gradient", 20, [0.5])) is None
        progress.end_class(explanation)
        progress.end()


class TestLive:
    def test_scores_are_computed_no_faster_than_they_are_read(self, monkeypatch):
        monkeypatch.setattr(progress_module, "READ_EVERY", 1e9)
        read = []

        def see():
            read.append(1)
            return SimpleNamespace(score=torch.tensor([0.5]), edges=torch.tensor([3.0])), None

        for terminal, expected in ((False, 0), (True, 1)):
            progress = LiveProgress(console(terminal=terminal))
            progress.begin("mine", [], ["class 0"])
            progress.begin_class("class 0")
            for step in range(3):
                progress.look(Snapshot("shrink", step, 3, see, done=step / 3))
            assert len(read) == expected
            progress.end()

    def test_table_follows_the_run(self, explanation, monkeypatch):
        monkeypatch.setattr(progress_module, "READ_EVERY", -1.0)
        target = console(terminal=True)
        progress = LiveProgress(target)
        progress.begin("mine", ["called as forward(data)"], ["class 0", "class 1"])
        assert rendered(progress).count("waiting") == 2
        progress.begin_class("class 1")
        progress.look(look("gradient", 40, [0.25, 0.75]))
        row = rendered(progress).splitlines()[2]
        assert row.split()[-1] == "searching"
        assert "40%" in row
        assert "0.750" in row
        assert " 2 " in row
        progress.look(look("local search", 100, [0.8, float("nan")]))
        assert "0.800" in rendered(progress)
        assert "refining" in rendered(progress)
        progress.end_class(explanation)
        assert "converged" in rendered(progress)
        progress.end()
        assert text(target).count("called as forward(data)") == 1
        assert "converged" in text(target)

    def test_fits_a_usual_terminal(self, explanation):
        progress = LiveProgress(console(terminal=True))
        progress.begin("mine", [], ["a class of thirty letters or so", "class 1"])
        progress.end_class(explanation)
        progress.end()
        assert "…" not in rendered(progress).splitlines()[0]
        assert "converged" in rendered(progress)

    def test_many_classes_show_the_current_one(self):
        progress = LiveProgress(console(terminal=True))
        progress.begin("mine", [], [f"class {i}" for i in range(100)])
        progress.begin_class("class 57")
        shown = rendered(progress)
        assert "class 57" in shown
        assert len(shown.splitlines()) <= 25
        progress.end()
        assert len(rendered(progress).splitlines()) == 102

    def test_end_without_begin(self):
        target = console(terminal=True)
        LiveProgress(target).end()
        assert target.file.getvalue() == ""

    def test_dumb_terminal_gets_plain_lines(self, explanation, monkeypatch):
        monkeypatch.setenv("TERM", "dumb")
        target = Console(file=io.StringIO(), force_terminal=True, width=80)
        progress = LiveProgress(target)
        progress.begin("mine", [], ["class 1"])
        progress.end_class(explanation)
        progress.end()
        assert len(text(target).splitlines()) == 2


def test_explain_shows_progress_on_standard_error(capsys):
    gi.explain(lab.model, lab.graphs(), restarts=2, recipe=gi.Recipe.auto(iterations=20))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("explaining Degrees\n")
    assert captured.err.count("probability") == 2


def test_explain_without_standard_error(monkeypatch):
    monkeypatch.setattr("sys.stderr", None)
    result = gi.explain(lab.model, lab.graphs(), targets=1, recipe=gi.Recipe.auto(iterations=20))
    assert len(result) == 1


def test_the_table_is_closed_after_a_failure():
    target = console(terminal=True)

    def fails(_: Snapshot) -> bool:
        raise RuntimeError("a bug")

    progress = LiveProgress(target)
    with pytest.raises(RuntimeError, match="a bug"):
        gi.explain(
            lab.model, lab.graphs(), restarts=2, recipe=gi.Recipe.auto(iterations=20),
            progress=progress, callbacks=[fails],
        )  # fmt: skip
    assert "\x1b[?25h" in text(target)  # the cursor is visible again


def test_one_bar_never_falls_and_says_what_is_left(explanation, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("gnninterpreter.cli.progress.time.monotonic", lambda: now[0])
    progress = LiveProgress(console(terminal=True))
    progress.begin("mine", [], ["kept", "class 1", "class 2", "class 3"])
    # One class of four was there already, which took no time.
    progress._rows["kept"].share = 1.0
    progress.begin_class("class 1")
    assert "left" not in rendered(progress)
    shares = []
    for iteration in (10, 50, 20, 100, 5):  # another part of the restarts begins anew
        now[0] += 5.0
        progress.look(look("gradient", iteration, [0.5]))
        shares.append(progress.share())
    assert shares == sorted(shares) == [0.275, 0.375, 0.375, 0.5, 0.5]
    # A quarter in 25 seconds: two more quarters are left.
    assert rendered(progress).splitlines()[-1].split()[-5:] == ["50%", "about", "50", "s", "left"]
    progress.end_class(explanation)
    progress.end()


def test_parts_of_restarts_count_as_one_search():
    done = []
    gi.explain(
        lab.model, lab.graphs(), targets=1, restarts=3, recipe=gi.Recipe.auto(iterations=20),
        progress=False, callbacks=[lambda seen: done.append(seen.done)],
    )  # fmt: skip
    assert done == sorted(done)
    assert 0 <= done[0] < done[-1] <= 1


def test_a_display_that_is_used_again_begins_anew(explanation, monkeypatch):
    now = [0.0]
    monkeypatch.setattr("gnninterpreter.cli.progress.time.monotonic", lambda: now[0])
    progress = LiveProgress(console(terminal=True))
    for _ in range(2):  # as an audit does that trains the model again
        progress.begin("mine", [], ["class 1"])
        progress.begin_class("class 1")
        now[0] += 10.0
        progress.look(look("gradient", 50, [0.5]))
        said = rendered(progress).splitlines()[-1].split()[-5:]
        assert said == ["50%", "about", "10", "s", "left"]
        progress.end()
        now[0] += 1000.0


def test_reading_is_told_now_and_then():
    plain, live = console(False), console(True)
    for count in (98_000, 100_000, 102_000):
        LiveProgress(plain).reading(count)
        LiveProgress(live).reading(count)
    assert text(plain) == "read 100,000 graphs\n"
    assert "read 102,000 graphs\r" in text(live)


def test_what_reading_left_on_the_line_is_wiped_off():
    live = console(True)
    progress = LiveProgress(live)
    progress.reading(1_002_000)
    progress.begin("m", [], [])
    progress.end()
    assert "\x1b[2K" in text(live).split("read 1,002,000 graphs\r")[1].split("explaining")[0]
