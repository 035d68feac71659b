"""Text from files and from other institutions cannot control a terminal through an exception, a warning or a ``repr``."""

from __future__ import annotations

from pathlib import Path

import pytest

import veilpath as vp

# Escape, its one-character form, and a change of the writing direction.
UNSAFE = "\x1b[31m\u009b\u202e"
SAFE = "\ufffd[31m\ufffd\ufffd"


def is_safe(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


def test_ids_in_an_exception_are_printable(tmp_path: Path) -> None:
    repeated = tmp_path / f"a{UNSAFE}.csv"
    row = f"p{UNSAFE},s{UNSAFE},CAB\n"
    repeated.write_text(f"participant,stimulus,scanpath\n{row}{row}", encoding="utf-8")
    with pytest.raises(vp.InputError, match="same participant and stimulus") as error:
        vp.read_cohort(repeated)
    assert is_safe(str(error.value)), repr(str(error.value))
    assert f"a{SAFE}.csv" in str(error.value)
    # Attributes are data, like the ids of a cohort.
    assert error.value.file == str(repeated)


def test_arguments_in_an_exception_are_printable() -> None:
    with pytest.raises(vp.InputError, match="no file matches") as error:
        vp.encode(f"*{UNSAFE}.csv")
    assert is_safe(str(error.value))
    for kind in (vp.VeilpathError, vp.OutputError, vp.ConnectionError):
        assert str(kind(f"a{UNSAFE}\nb")) == f"a{SAFE}\nb"


def test_columns_in_a_warning_are_printable(tmp_path: Path) -> None:
    path = tmp_path / f"a{UNSAFE}.csv"
    path.write_text(f"participant,stimulus,x{UNSAFE},scanpath\np,s,1,CAB\n", encoding="utf-8")
    other = tmp_path / "b.csv"
    other.write_text("participant,stimulus,scanpath\nq,s,ABC\n", encoding="utf-8")
    with pytest.warns(vp.VeilpathWarning) as warnings:
        vp.compare(vp.read_cohort(path), vp.read_cohort(other))
    texts = [str(warning.message) for warning in warnings]
    assert all(is_safe(text) for text in texts), texts
    assert any(f"x{SAFE}" in text for text in texts)
    assert any(f"a{SAFE}.csv" in text for text in texts)


def test_names_in_a_repr_are_printable(tmp_path: Path) -> None:
    scores = tmp_path / "scores.csv"
    scores.write_text(f"a,b,stimulus,score{UNSAFE}\np,q,,1\n", encoding="utf-8")
    result = vp.read_result(scores)
    path = tmp_path / f"a{UNSAFE}.csv"
    path.write_text("participant,stimulus,scanpath\np,s,CAB\n", encoding="utf-8")
    cohort = vp.read_cohort(path)
    assert repr(result) == f"<Result: 1 pairs, score{SAFE}>"
    for text in [repr(cohort), cohort._repr_html_(), result._repr_html_()]:
        assert is_safe(text), repr(text)
    # Attributes are data.
    assert result.measures == [f"score{UNSAFE}"]
