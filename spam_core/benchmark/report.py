"""What a benchmark found, as JSON for programs and as Markdown for people."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from spam_core.persistence.records import write_json, write_text

_PACKAGES = (
    "numpy",
    "pandas",
    "scikit-learn",
    "torch",
    "shap",
    "lime",
    "interpret",
    "xgboost",
)


def environment() -> dict[str, Any]:
    """Describe the machine and the software that a measurement was made with.

    Returns
    -------
    dict
        ``cpu``, ``cores``, ``torch_threads``, ``memory_gib``, ``gpu`` (None without
        one), ``python``, ``spam_core`` and ``packages``. No names of hosts or people.

    Examples
    --------
    >>> sorted(environment())[:4]
    ['cores', 'cpu', 'gpu', 'memory_gib']
    """
    from spam_core import __version__

    return {
        "cpu": _cpu(),
        "cores": cores(),
        "memory_gib": _memory(),
        "torch_threads": torch.get_num_threads(),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "python": platform.python_version(),
        "spam_core": __version__,
        "packages": {name: v for name in _PACKAGES if (v := _version(name))},
    }


@dataclass(frozen=True)
class Column:
    """One column of a report's table.

    Attributes
    ----------
    key : str
        Of the results.
    title : str
    digits : int or None
        Significant digits of its numbers; None writes them as they are.
    """

    key: str
    title: str
    digits: int | None = None


@dataclass(frozen=True)
class Report:
    """The results of one benchmark.

    Attributes
    ----------
    name : str
        Of the files, such as ``"explanations"``.
    title, text : str
        Heading and what was measured, in a few sentences.
    command : str
        That makes it again.
    columns : sequence of Column
        What the table shows of each result.
    results : sequence of dict
        One for each line.
    settings : mapping
        Sizes, seeds and whatever else was chosen.
    environment : mapping
        See `environment`.
    fits : sequence of dict
        The single measurements that the results sum up, where they are kept.

    Examples
    --------
    >>> columns = [Column("model", "model"), Column("rate", "rows a second", 2)]
    >>> results = [{"model": "SPAM", "rate": 12345.678}]
    >>> report = Report("speed", "Speed", "How fast.", "run", columns, results)
    >>> print(report.table())
    | model | rows a second |
    |---|---:|
    | SPAM | 12,000 |
    """

    name: str
    title: str
    text: str
    command: str
    columns: Sequence[Column]
    results: Sequence[Mapping[str, Any]]
    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=environment)
    fits: Sequence[Mapping[str, Any]] = ()

    def table(self) -> str:
        """Return the results as a Markdown table."""
        lines = [
            "| " + " | ".join(column.title for column in self.columns) + " |",
            "|"
            + "|".join("---" if c.digits is None else "---:" for c in self.columns)
            + "|",
        ]
        for result in self.results:
            cells = [show(result.get(c.key), c.digits) for c in self.columns]
            lines.append("| " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def markdown(self) -> str:
        """Return the whole page: what was measured, the table, where and how."""
        known = self.environment
        packages = ", ".join(f"{k} {v}" for k, v in known["packages"].items())
        gpu = "" if known["gpu"] is None else f", {known['gpu']}"
        chosen = ", ".join(f"{key} {value}" for key, value in self.settings.items())
        return "\n\n".join(
            [
                f"# {self.title}",
                self.text,
                self.table(),
                f"Made by `{self.command}` with {chosen}.",
                f"Machine: {known['cpu']}, {known['cores']} cores, "
                f"{known['memory_gib']} GiB{gpu}; {known['torch_threads']} threads. "
                f"Python {known['python']}, spam_core {known['spam_core']}, "
                f"{packages}.",
            ]
        )

    def save(self, folder: Path) -> list[Path]:
        """Write ``NAME.json`` and ``NAME.md`` into a folder, which is made if needed.

        Returns
        -------
        list of Path
            The two files.
        """
        folder.mkdir(parents=True, exist_ok=True)
        content = {
            "title": self.title,
            "text": self.text,
            "command": self.command,
            "settings": dict(self.settings),
            "environment": dict(self.environment),
            "columns": [[c.key, c.title, c.digits] for c in self.columns],
            "results": self.results,
        }
        if self.fits:
            content["fits"] = self.fits
        paths = [folder / f"{self.name}.json", folder / f"{self.name}.md"]
        write_json(paths[0], content)
        write_text(paths[1], self.markdown() + "\n")
        return paths


def load_report(path: Path) -> Report:
    """Read what `Report.save` wrote.

    Raises
    ------
    ValueError
        If the file is no report.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        columns = [Column(*column) for column in content.pop("columns")]
        return Report(name=path.stem, columns=columns, **content)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{path} is no report of a benchmark: {error}") from error


def show(value: Any, digits: int | None = None) -> str:
    """Write a value for people; what wasn't measured is a dash.

    Examples
    --------
    >>> show(0.0001234, 2), show(1234567.8, 3), show(1234567, 3), show(None)
    ('0.00012', '1,230,000', '1,234,567', '–')
    """
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if digits is None or isinstance(value, str):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}"
    if value == 0:
        return "0"
    places = digits - 1 - math.floor(math.log10(abs(value)))
    rounded = round(float(value), places)
    if abs(rounded) < 1e-5:
        return f"{rounded:.{digits - 1}e}"
    return f"{rounded:,.{max(places, 0)}f}"


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _cpu() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def cores() -> int:
    """Count the cores that this process may use, which in a container are fewer."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _memory() -> int | None:
    try:
        size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on Windows
        return None
    return round(size / 2**30)
