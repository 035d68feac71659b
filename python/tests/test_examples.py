"""Runs the notebooks, and the examples in the READMEs and the book."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest
from conftest import ROOT

import veilpath as vp

NOTEBOOKS = sorted((ROOT / "python" / "notebooks").glob("*.py"))


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run(notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VEILPATH_HOME", str(tmp_path / "home"))
    runpy.run_path(str(notebook))
    assert list(tmp_path.glob("*.html"))


def examples(file: Path) -> str:
    """The Python blocks of a page, one after the other."""
    blocks = re.findall(r"^```python\n(.*?)^```$", file.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert blocks, file
    return "\n".join(blocks)


@pytest.mark.parametrize("page", ["README.md", "python/README.md", "docs/python.md"])
@pytest.mark.filterwarnings("ignore::veilpath.VeilpathWarning")
def test_examples_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VEILPATH_HOME", str(tmp_path / "home"))
    (tmp_path / "recordings").mkdir()
    vp.synth_fixations("recordings/p1.csv", participants=6, stimuli=2, seconds=4, seed=1)
    exec(compile(examples(ROOT / page), page, "exec"), {"__name__": "example"})


def test_notebooks_are_percent_scripts() -> None:
    assert len(NOTEBOOKS) == 2
    for notebook in NOTEBOOKS:
        text = notebook.read_text(encoding="utf-8")
        assert text.startswith("# %% [markdown]\n# # "), notebook
        assert text.count("\n# %%\n") >= 5, notebook
