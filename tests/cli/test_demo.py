from __future__ import annotations

import pytest

import gnninterpreter as gi


@pytest.mark.slow
def test_demo_reaches_every_class_of_shape_and_says_where_the_report_is(cli, tmp_path, monkeypatch):
    load = gi.datasets.load
    # As in the command, but for fewer graphs.
    monkeypatch.setattr(gi.datasets, "load", lambda name: load(name, tmp_path, num_graphs=60))
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    code, out, err = cli("demo", "--restarts", "2", "--out", folder, "--overwrite")
    assert code == 0
    assert out.rstrip().endswith(f"report: {folder / 'report.html'}")
    assert "explaining shape" in err
    page = (folder / "report.html").read_text()
    result = gi.load(folder)
    assert list(result) == ["others", "lollipop", "wheel", "grid", "star"]
    for name in result:
        assert name in page
    short = {name: f.probability.mean for name, f in result.items() if f.probability.mean < 0.95}
    assert short == {}
    assert result.converged
