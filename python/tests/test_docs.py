"""Does what the pages and docstrings show run as it stands?"""

from __future__ import annotations

import doctest
import gzip
import importlib
import pkgutil
import re
import shutil
from pathlib import Path
from typing import Any

import harmonia
import pytest

ROOT = Path(__file__).parents[2]
TRACE = ROOT / "fuzz/seeds/msr_reader/rows.csv"

pytestmark = pytest.mark.filterwarnings("ignore::harmonia.HarmoniaWarning")


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(TRACE, "web_3.csv")
    Path("web_4.csv.gz").write_bytes(gzip.compress(TRACE.read_bytes()))
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), flags=re.DOTALL | re.MULTILINE)
    assert blocks
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert Path("tail.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("name", [each.name for each in pkgutil.iter_modules(harmonia.__path__)])
def test_docstrings_run(name: str) -> None:
    module = importlib.import_module(f"harmonia.{name}")
    assert doctest.testmod(module, optionflags=doctest.ELLIPSIS).failed == 0
