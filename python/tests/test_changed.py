"""Does `make check` leave out a step only where nothing that the step depends on differs from the commit of the last whole check?"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tests/changed.py"
RUNS, LEFT_OUT = 0, 1


class Tree:
    """A repository of its own with the script in it, and one commit that `.ci/whole` names."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet")
        (root / "tests").mkdir()
        shutil.copy(SCRIPT, root / "tests/changed.py")
        self.put("crates/page/src/lib.rs", "a page")
        self.put("docs/concepts.md", "a text")
        self.commit()
        self.put(".ci/whole", self.git("rev-parse", "HEAD"))
        self.commit()

    def git(self, *arguments: str) -> str:
        named = ["-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *named, *arguments], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def put(self, path: str, text: str) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def commit(self) -> None:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "a change")

    def asked(self, step: str, **more: str) -> tuple[int, str]:
        environment = {name: value for name, value in os.environ.items() if name != "HARMONIA_CHECK"} | more
        run = subprocess.run(["python3", "tests/changed.py", step], cwd=self.root, env=environment, capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


def test_what_nothing_touched_is_left_out_and_says_how_to_run_it(tree: Tree) -> None:
    tree.put("docs/concepts.md", "another text")
    code, said = tree.asked("browser")
    assert code == LEFT_OUT and "HARMONIA_CHECK=all" in said


@pytest.mark.parametrize("commits", [False, True])
def test_a_file_that_a_step_depends_on_makes_it_run_and_no_other(tree: Tree, commits: bool) -> None:
    tree.put("crates/page/src/lib.rs", "another page")
    if commits:
        tree.commit()
    code, said = tree.asked("browser")
    assert code == RUNS and "crates/page/src/lib.rs" in said
    assert tree.asked("fuzz")[0] == LEFT_OUT


def test_a_new_file_that_git_does_not_know_yet_counts(tree: Tree) -> None:
    tree.put("crates/trace/src/formats/new.rs", "a format")
    assert tree.asked("fuzz")[0] == RUNS


def test_a_file_that_is_moved_away_counts(tree: Tree) -> None:
    tree.git("mv", "crates/page/src/lib.rs", "docs/lib.rs")
    assert tree.asked("browser")[0] == RUNS


def test_what_everything_stands_on_makes_every_step_run(tree: Tree) -> None:
    tree.put("Cargo.lock", "another version")
    assert {tree.asked(step)[0] for step in ("simulations", "newcomer", "browser", "fuzz")} == {RUNS}


def test_in_doubt_a_step_runs(tree: Tree) -> None:
    assert tree.asked("browser", HARMONIA_CHECK="all")[0] == RUNS
    tree.put(".ci/whole", "0123456789012345678901234567890123456789\n")
    assert tree.asked("browser")[0] == RUNS
    (tree.root / ".ci/whole").unlink()
    assert tree.asked("browser")[0] == RUNS


def test_a_commit_of_another_branch_is_no_base(tree: Tree) -> None:
    tree.git("checkout", "--quiet", "--orphan", "other")
    tree.commit()
    assert tree.asked("browser")[0] == RUNS


def test_a_step_that_always_runs_has_no_rule(tree: Tree) -> None:
    code, said = tree.asked("clippy")
    assert code == 2 and "simulations, newcomer, browser, site-test, fuzz" in said
