from __future__ import annotations

import gnninterpreter as gi

from .conftest import QUICK


def test_demo_explains_shape_and_says_where_the_report_is(cli, tmp_path):
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    code, out, err = cli("demo", *QUICK, "--out", folder, "--overwrite")
    assert code == 0
    assert out.rstrip().endswith(f"report: {folder / 'report.html'}")
    assert "explaining shape" in err
    page = (folder / "report.html").read_text()
    result = gi.load(folder)
    assert list(result) == ["others", "lollipop", "wheel", "grid", "star"]
    for name in result:
        assert name in page
