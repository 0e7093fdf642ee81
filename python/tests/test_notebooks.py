"""Do the notebooks run from their first cell to their last, and is the first figure ten lines away?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

NOTEBOOKS = Path(__file__).parents[2] / "examples/notebooks"


def code(notebook: Any) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs: they are noise in a diff"
    nbclient.NotebookClient(notebook, timeout=100, kernel_name="python3", resources={"metadata": {"path": tmp_path}}).execute()
    shown = [output for cell in notebook.cells for output in cell.get("outputs", []) if "data" in output]
    assert any("application/vnd.vegalite" in kind for output in shown for kind in output["data"]) or any(
        "altair" in output["data"].get("text/html", "") for output in shown
    ), "it shows a figure"


def test_the_first_figure_is_ten_lines_away() -> None:
    notebook = nbformat.read(NOTEBOOKS / "first-figure.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    lines = [line for source in code(notebook) for line in source.splitlines() if line.strip()]
    first = next(place for place, line in enumerate(lines) if line.startswith("plot."))
    assert first + 1 <= 10, lines[: first + 1]
