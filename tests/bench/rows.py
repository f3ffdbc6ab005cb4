"""How a bench says what it measured: one line a figure, beside its goal."""

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One figure and its goal, in words, and whether it was reached."""

    name: str
    goal: str
    measured: str
    reached: bool

    def __str__(self) -> str:
        return f"{'ok  ' if self.reached else 'MISS'}  {self.name:<44} {self.measured:<26} goal {self.goal}"


def percentile(figures: Sequence[float], share: float) -> float:
    """The figure below which about `share` of them lie; always one of them."""
    ordered = sorted(figures)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


def spread(name: str, figures: list[float], p50: float, p95: float) -> Row:
    """A row of milliseconds by median and 95th percentile."""
    median, high = statistics.median(figures), percentile(figures, 0.95)
    return Row(
        f"{name} (n={len(figures)})",
        f"{p50:.0f} / {p95:.0f} ms",
        f"{median:.0f} / {high:.0f} ms",
        median <= p50 and high <= p95,
    )


def at_most(name: str, figure: float, limit: float, unit: str, digits: int = 0) -> Row:
    return Row(name, f"<= {limit:g} {unit}", f"{figure:.{digits}f} {unit}", figure <= limit)


def machine() -> str:
    """The line that stands above all figures: they depend on it."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
