"""What the README shows runs as it stands there.

Every ``python`` block runs in a new process, and so does every block of commands after
the comment ``<!-- run -->``, all in one empty folder, in the order of the page.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TIMEOUT = 600  # seconds for one block
FENCE = re.compile(
    r"^(?P<run><!-- run -->\n+)?```(?P<language>\w*)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    marked: bool

    @property
    def runnable(self) -> bool:
        return self.language == "python" or self.marked


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a page, in order."""
    return [
        Block(found["language"], found["code"], found["run"] is not None)
        for found in FENCE.finditer(text)
    ]


def run(block: Block, folder: Path) -> str:
    """Run one block in `folder` and return what it printed.

    Raises
    ------
    AssertionError
        If it fails or warns; the text holds everything that it wrote.
    """
    code = block.code
    command = (
        [sys.executable, "-c", code]
        if block.language == "python"
        else ["bash", "-euo", "pipefail", "-c", code]
    )
    tools = str(Path(sys.executable).parent)
    environment = os.environ | {"PATH": f"{tools}:{os.environ['PATH']}"}
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    wrote = f"{code}\n--- stdout\n{done.stdout}\n--- stderr\n{done.stderr}"
    assert done.returncode == 0, wrote
    assert "Warning" not in done.stderr, wrote
    return done.stdout


def test_the_readme_runs(tmp_path: Path) -> None:
    page = [b for b in blocks((ROOT / "README.md").read_text("utf-8")) if b.runnable]
    code = "\n".join(block.code for block in page)
    for part in ("explain_local(", ".ledger(0)", "spam_core fit", "spam_core explain"):
        assert part in code
    for block in page:
        assert run(block, tmp_path).strip(), f"printed nothing:\n{block.code}"


def test_blocks_are_found_and_told_apart() -> None:
    text = (
        "```python\na = 1\n```\n\n<!-- run -->\n\n```bash\nls\n```\n\n"
        "```bash\nmake app\n```\n"
    )
    assert blocks(text) == [
        Block("python", "a = 1\n", marked=False),
        Block("bash", "ls\n", marked=True),
        Block("bash", "make app\n", marked=False),
    ]
    assert [block.runnable for block in blocks(text)] == [True, True, False]


@pytest.mark.parametrize(
    ("block", "complaint"),
    [
        (Block("python", "raise ValueError('no')", marked=False), "ValueError: no"),
        (Block("bash", "false\necho yes", marked=True), "false"),
        (
            Block("python", "import warnings; warnings.warn('hm')", marked=False),
            "UserWarning: hm",
        ),
    ],
)
def test_a_block_that_fails_or_warns_is_seen(
    tmp_path: Path, block: Block, complaint: str
) -> None:
    with pytest.raises(AssertionError, match=complaint):
        run(block, tmp_path)
