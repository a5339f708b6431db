"""What the documents show runs, each from the top to the bottom, in one namespace."""

import pathlib
import re

import pytest

CRATE = pathlib.Path(__file__).parents[1]
DOCUMENTS = [CRATE / "README.md", CRATE.parents[1] / "docs" / "python.md"]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_runs(document, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    text, namespace = document.read_text(), {}
    blocks = list(re.finditer(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert blocks
    for block in blocks:
        # Lines are those of the document, in what a failure shows.
        above = "\n" * (text[: block.start(1)].count("\n"))
        exec(compile(above + block[1], document, "exec"), namespace)  # noqa: S102
