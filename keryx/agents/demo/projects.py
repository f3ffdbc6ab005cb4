"""Three small real projects for the demonstration: what is in them, how they came to be, and what mends them."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from keryx.agents.surroundings import small_environment

GIT_LIMIT_S = 20.0
# No identity, no hook, no signing and no setting of this machine reaches the throw-away repositories.
GIT = ("git", "-c", "user.name=Keryx demo", "-c", "user.email=demo@keryx.invalid", "-c", "commit.gpgsign=false")


def git_environment(root: Path) -> dict[str, str]:
    """What git is given: nothing that was set up on this machine, and no repository that `root` happens to lie in."""
    return small_environment(
        GIT_CONFIG_NOSYSTEM="1",
        GIT_CONFIG_GLOBAL="/dev/null",
        GIT_TERMINAL_PROMPT="0",
        GIT_CEILING_DIRECTORIES=str(root.resolve()),
    )


@dataclass(frozen=True)
class Mend:
    """The one fault of a project that the demo agent knows how to mend."""

    test: str
    """The test that fails because of it."""
    called: str
    """What that test is called aloud, inside a sentence."""
    looked_at: str
    """What is opened to find it, as a progress line says it."""
    cause: str
    """What was wrong, as half a sentence."""
    branch: str
    message: str
    edit: Callable[[Path], None]
    """Changes the files under a folder; raises `ValueError` when the fault is not there."""


def prepare_demo_projects(root: Path) -> tuple[str, ...]:
    """Make the projects under `root` as git repositories; one that is there already is left alone.

    Blocks for about a second. Without git the files are made all the same, without a history.
    """
    for name, commits in PROJECTS.items():
        folder = root / name
        if folder.exists():
            continue
        # Made aside and moved in whole: a start that was cut off leaves no half project behind.
        half = root / f".{name}-unfinished"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir(parents=True)
        write_history(half, commits)
        half.rename(folder)
    return tuple(PROJECTS)


def write_history(folder: Path, commits: Mapping[str, Mapping[str, str]]) -> None:
    """Make a repository of `folder`: the files of each commit, by its message. Without git the files alone. Blocking.

    Raises `OSError`, or `subprocess.SubprocessError` when git cannot.
    """
    with_git = shutil.which("git") is not None

    def git(*arguments: str) -> None:
        if with_git:
            subprocess.run(
                [*GIT, *arguments],
                cwd=folder,
                env=git_environment(folder.parent),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=True,
                timeout=GIT_LIMIT_S,
            )

    git("init", "--quiet", "--template=")
    git("symbolic-ref", "HEAD", "refs/heads/main")
    for message, files in commits.items():
        for path, text in files.items():
            file = folder / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        git("add", "--all")
        git("commit", "--quiet", "--message", message)


_INVOICE_HEAD = '''"""Invoices: lines of hours at a price, and what they come to."""

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


@dataclass(frozen=True)
class Line:
    hours: Decimal
    price: Decimal


def round_cents(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def total(lines: list[Line]) -> Decimal:
'''
_ROUNDED_ONCE = '    return round_cents(sum((line.hours * line.price for line in lines), Decimal("0")))\n'
_ROUNDED_PER_LINE = '    return sum((round_cents(line.hours * line.price) for line in lines), Decimal("0"))\n'

_INVOICE_TESTS = """import unittest
from decimal import Decimal

from billing.invoice import Line, total


class InvoiceTest(unittest.TestCase):
    def test_empty_invoice(self):
        self.assertEqual(total([]), Decimal("0"))

    def test_invoice_total(self):
        self.assertEqual(total([Line(Decimal("2"), Decimal("80.00"))]), Decimal("160.00"))

    def test_invoice_rounding(self):
        third = Line(Decimal("0.333"), Decimal("10.00"))
        self.assertEqual(total([third, third, third]), Decimal("9.99"))
        short = Line(Decimal("0.125"), Decimal("0.20"))
        self.assertEqual(total([short, short]), Decimal("0.05"))
"""

_DATES = '''"""When an invoice is due."""

from datetime import date, timedelta

DAYS_IN_YEAR = 365


def due(issued: date, days: int = 30) -> date:
    return issued + timedelta(days=days)


def daily_rate(yearly_rate: float) -> float:
    return yearly_rate / DAYS_IN_YEAR
'''

_DATES_TESTS = """import unittest
from datetime import date

from billing.dates import daily_rate, due


class DatesTest(unittest.TestCase):
    def test_due_date(self):
        self.assertEqual(due(date(2026, 1, 15)), date(2026, 2, 14))

    def test_daily_rate(self):
        self.assertAlmostEqual(daily_rate(7.3), 0.02)
"""

_PAGES = '''"""Pages, as far as this site needs them."""

from html import escape


def page(title: str, body: str) -> str:
    return f"<!doctype html><title>{escape(title)}</title><main>{escape(body)}</main>"
'''

_PAGES_TESTS = """import unittest

from website.pages import page


class PagesTest(unittest.TestCase):
    def test_page_has_its_title(self):
        self.assertIn("<title>Home</title>", page("Home", "Hello"))

    def test_text_is_escaped(self):
        self.assertIn("5 &lt; 10", page("Sums", "5 < 10"))
"""

_BUILD = '''"""The build's first step: the lock file belongs to the requirements it was made from."""

import hashlib
from pathlib import Path

ROOT = Path(__file__).parent.parent


def locked() -> bool:
    wanted = hashlib.sha256((ROOT / "requirements.in").read_bytes()).hexdigest()
    return (ROOT / "requirements.lock").read_text().startswith(f"# made from {wanted}")
'''

_BUILD_TESTS = """import unittest

from website.build import locked


class BuildTest(unittest.TestCase):
    def test_lock_file_is_up_to_date(self):
        self.assertTrue(locked(), "requirements.lock was made from other requirements")
"""

_TOKENS = '''"""Sums as text, cut into tokens and worked out from left to right."""

import re

_TOKEN = re.compile(r"\\s*(?:(\\d+)|([-+]))")


def tokens(text: str) -> list[str]:
    found, at = [], 0
    while at < len(text.rstrip()):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"not a sum: {text[at:]!r}")
        found.append(match[1] or match[2])
        at = match.end()
    return found


def value(text: str) -> int:
    total, sign = 0, 1
    for token in tokens(text):
        if token in "+-":
            sign = 1 if token == "+" else -1
        else:
            total += sign * int(token)
    return total
'''

_TOKENS_TESTS = """import unittest

from parser.tokens import tokens, value


class TokensTest(unittest.TestCase):
    def test_numbers_and_signs(self):
        self.assertEqual(tokens("12 + 3-4"), ["12", "+", "3", "-", "4"])

    def test_nothing_is_no_tokens(self):
        self.assertEqual(tokens("  "), [])

    def test_other_characters_are_refused(self):
        with self.assertRaises(ValueError):
            tokens("2 * 3")


class ValueTest(unittest.TestCase):
    def test_left_to_right(self):
        self.assertEqual(value("10 - 3 + 2"), 9)
"""


def _lock(requirements: str) -> str:
    made_from = hashlib.sha256(requirements.encode()).hexdigest()
    return f"# made from {made_from}\n{requirements}"


_TESTS_ROOM = {"tests/__init__.py": ""}

PROJECTS: dict[str, dict[str, dict[str, str]]] = {
    "billing": {
        "Add invoices": {
            "README.md": "# billing\n\nInvoices and when they are due. `python -m unittest` runs the tests.\n",
            "billing/__init__.py": "",
            "billing/invoice.py": _INVOICE_HEAD + _ROUNDED_ONCE,
            "tests/test_invoice.py": _INVOICE_TESTS,
            **_TESTS_ROOM,
        },
        "Add due dates": {"billing/dates.py": _DATES, "tests/test_dates.py": _DATES_TESTS},
        "Round totals per line": {"billing/invoice.py": _INVOICE_HEAD + _ROUNDED_PER_LINE},
    },
    "website": {
        "Add pages": {
            "README.md": "# website\n\nA few pages. `python -m unittest` checks the build.\n",
            "website/__init__.py": "",
            "website/pages.py": _PAGES,
            "tests/test_pages.py": _PAGES_TESTS,
            **_TESTS_ROOM,
        },
        "Check the lock file in the build": {
            "website/build.py": _BUILD,
            "tests/test_build.py": _BUILD_TESTS,
            "requirements.in": "markdown==3.7\n",
            "requirements.lock": _lock("markdown==3.7\n"),
        },
        "Use the new markdown": {"requirements.in": "markdown==3.8\n"},
    },
    "parser": {
        "Add tokens": {
            "README.md": "# parser\n\nSmall sums. `python -m unittest` runs the tests.\n",
            "parser/__init__.py": "",
            "parser/tokens.py": _TOKENS,
            **_TESTS_ROOM,
        },
        "Test tokens and values": {"tests/test_tokens.py": _TOKENS_TESTS},
    },
}


def _round_once(folder: Path) -> None:
    invoice = folder / "billing" / "invoice.py"
    text = invoice.read_text(encoding="utf-8")
    if _ROUNDED_PER_LINE not in text:
        raise ValueError("the totals are not rounded per line")
    invoice.write_text(text.replace(_ROUNDED_PER_LINE, _ROUNDED_ONCE), encoding="utf-8")


def _make_lock(folder: Path) -> None:
    requirements = (folder / "requirements.in").read_text(encoding="utf-8")
    (folder / "requirements.lock").write_text(_lock(requirements), encoding="utf-8")


MENDS: dict[str, Mend] = {
    "billing": Mend(
        test="test_invoice_rounding",
        called="test invoice rounding",
        looked_at="Reading how an invoice is totalled",
        cause="totals were rounded per line instead of once",
        branch="fix-invoice-rounding",
        message="Round totals once",
        edit=_round_once,
    ),
    "website": Mend(
        test="test_lock_file_is_up_to_date",
        called="the lock file check",
        looked_at="Comparing the lock file with the requirements",
        cause="the lock file was made from older requirements",
        branch="update-lock-file",
        message="Make the lock file from the requirements",
        edit=_make_lock,
    ),
}
