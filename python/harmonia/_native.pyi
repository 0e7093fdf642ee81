# What crates/py exports; `python -m mypy.stubtest harmonia` compares it with the built module.

version: str

class BadInput(ValueError):
    key: str | None
    line: int | None
    column: int | None

def run(
    scenario: str,
    is_text: bool,
    sets: list[str],
    trace: str | None,
    format: str | None,
    threads: int,
    checked: bool,
) -> str: ...
def compare(
    scenario: str,
    is_text: bool,
    policies: list[str],
    sets: list[str],
    trace: str | None,
    format: str | None,
    threads: int,
    checked: bool,
) -> str: ...
def check(
    scenario: str, is_text: bool, sets: list[str], trace: str | None, format: str | None
) -> str: ...
def policies_json() -> str: ...
