"""The reader of shell lines, and against a real bash: what bash runs, however nested and quoted, it has seen."""

import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from keryx.agents.approver import Effect
from keryx.agents.effects import effect_of_command
from keryx.agents.effects.shell import Command, Group, Redirect, read_shell
from keryx.agents.effects.words import Unreadable, Word

BASH = shutil.which("bash")
LINES = 200
RUNS_AT_LEAST = 100
READ_AT_LEAST = 80
BASH_S = 20


def texts(line: str) -> list[list[str]]:
    return [[word.text for word in step.words] for step in read_shell(line) if isinstance(step, Command)]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("a b  c", [["a", "b", "c"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a''b\"\"c", [["abc"]]),
        ("$'a\\tb\\x41\\101\\u00e9\\''", [["a\tbAAé'"]]),
        ('a "b\\"c\\$d\\e"', [["a", 'b"c$d\\e']]),
        ("a#b #c\nd", [["a#b"], ["d"]]),
        ("a;b&&c||d|e&f", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]),
        ("a {b,c}d {e}", [["a", "bd", "cd", "{e}"]]),
        ("if a; then b; else c; fi", [["a"], ["b"], ["c"], []]),
        ("for x in 1 2; do a; done", [["for", "x", "in", "1", "2"], ["a"], []]),
        ("echo if then", [["echo", "if", "then"]]),
        ("'if' a", [["if", "a"]]),
        ("f() { a; }", [["a"], []]),
        ("a=1 b=2 c d=3", [["c", "d=3"]]),
        ("\\\na \\\n b", [["a", "b"]]),
        ("2>&1 a >b 3<c d", [["a", "d"]]),
        ("a \u00a0 \u2028", [["a", "\u00a0", "\u2028"]]),
    ],
)
def test_words_are_taken_apart_as_a_shell_does(line: str, words: list[list[str]]) -> None:
    assert texts(line) == words


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("$x", Word("$x", known=False)),
        ("${x}", Word("$x", known=False)),
        ('"a$x"', Word("a$x", known=False)),
        ("'$x'", Word("$x")),
        ("\\$x", Word("$x")),
        ("$", Word("$", bare=False)),
        ("a*", Word("a*", bare=True, glob=True)),
        ("'a*'", Word("a*")),
        ("{1..3}", Word("{1..3}", known=False, bare=True)),
        ("'{a,b}'", Word("{a,b}")),
        ("{a,'b'}", Word("{a,b}", known=False)),
        ("$((1+1))", Word("$()", known=False)),
    ],
)
def test_what_is_only_known_when_it_runs_is_marked(line: str, word: Word) -> None:
    (step,) = read_shell(f"echo {line}")
    assert isinstance(step, Command)
    assert step.words[1] == word


def test_redirections_and_here_documents_are_kept_with_their_command() -> None:
    a, b = read_shell("a <<X >o\n$y\nX\nb")
    assert isinstance(a, Command)
    assert isinstance(b, Command)
    assert a.redirects == [Redirect(">", Word("o", bare=True)), Redirect("<<", Word("$y\n", known=False))]
    assert [word.text for word in b.words] == ["b"]


def test_parentheses_and_substitutions_nest() -> None:
    group, after = read_shell("(a $(b)) && c")
    assert isinstance(group, Group)
    (a,) = group.script
    assert isinstance(a, Command)
    ((b,),) = a.inner
    assert isinstance(b, Command)
    assert b.words == [Word("b", bare=True)]
    assert after.before == "&&"


@pytest.mark.parametrize(
    "line", ["'", '"', "`", "$(", "(", ")", "${x", "$((1)", "a;;", "a > ", "case x", "[[ a", "a\0"]
)
def test_what_is_no_line_is_refused(line: str) -> None:
    with pytest.raises(Unreadable):
        read_shell(line)


# Against bash itself: lines that push, nested at random. A stub in git's place says whether it was told to.


WORDS = [
    *r"""a a\ b $x "$x" ${x:-d} "${x:-it}" $((1+2)) {1,2} * a#b $'\x41' "" ~ = ${#x} ${x#a} -n [a] \$x \' $ ! '#'
    `echo` $$ 'a'"b" x""".split(),
    "'x y'",
    "$(echo hi)",
]
PLAIN = [
    "git push",
    "git push W",
    "g'i't push",
    '"git" pu\\sh',
    "git $'pu\\163h'",
    "x=1 git push",
    ">o git push",
    "git>o push",
    "git push 2>&1",
    "\\git push",
    "{git,push}",
    "git {push,W}",
    "git \\\n push",
    "echo W W",
    "true",
]


@dataclass
class Writer:
    """Writes shell lines at random."""

    random: random.Random

    def word(self) -> str:
        return self.random.choice(WORDS)

    def line(self, depth: int) -> str:
        command = self.command
        joint = self.random.choice(["", "", "; ", " && ", " || ", " | ", "\n", " & "])
        return command(depth) + (joint + command(depth) if joint else "")

    def command(self, depth: int) -> str:
        if depth <= 0 or self.random.random() < 0.25:
            return self._filled(self.random.choice(PLAIN), 0)
        return self._filled(self.random.choice(NESTED), depth)

    def _filled(self, pattern: str, depth: int) -> str:
        made: list[str] = []
        for char in pattern:
            made.append(FILLINGS[char](self, depth - 1) if char in FILLINGS else char)
        return "".join(made)


def single(line: str) -> str:
    return "'" + line.replace("'", "'\\''") + "'"


def double(line: str) -> str:
    return '"' + "".join(f"\\{char}" if char in '\\"$`' else char for char in line) + '"'


FILLINGS: dict[str, Callable[[Writer, int], str]] = {
    "L": Writer.line,
    "Q": lambda writer, depth: single(writer.line(depth)),
    "D": lambda writer, depth: double(writer.line(depth)),
    "B": lambda writer, depth: writer.line(depth).replace("\\", "\\\\").replace("`", "\\`"),
    "W": lambda writer, depth: writer.word(),
}
"""What a capital letter in a pattern stands for: a line; one in single or double quotes or backticks; a word."""

NESTED = [
    *"""( L )
{ L; }
echo $(L)
echo "$(L)"
echo "it's" $(L) 'q'
echo `B`
if L; then L; fi
if false; then true; else L; fi
for i in 1 W; do L; done
for ((i=0;i<1;i++)); do L; done
while true; do L; break; done
case x in x) L ;; esac
case x in a) true;; (y|x) L ;; esac
echo $(case x in x) L ;; esac)
f() { L; }; f
bash -c Q
sh -c D
eval Q
eval D
true <(L)
echo > >(L)
bash <<< Q
x=$(L)
x=(W $(L))
(( 1 + $(L; echo 1) ))
echo $(( $(L >&2; echo 1) ))
[[ a < $(L) ]]
[[ -z x || -n W ]] || L
! L
time -p L
echo ${x:-$(L)}
echo "${x:-$(L)}"
echo W | L
# c'omment~L
true # "x~L
command L
env A=1 L
trap Q EXIT
export x=W y=$(L)
set -- W; L
{ L; } > o 2>&1
( L ) 2>o | { true; }
echo \\~W; L
echo a\\; && L
echo W W; L
""".replace("~", "\n")
    .strip()
    .split("\n"),
    "bash <<'_'\nL\n_",
    "true <<_\n$(L)\n_\n",
    "function f {\nL\n}\nf",
    "if [ a = a ]; then\nL\nfi",
]


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_whatever_bash_runs_the_reader_has_seen(tmp_path: Path) -> None:
    assert BASH is not None
    bin_, work, mark = tmp_path / "bin", tmp_path / "work", tmp_path / "mark"
    bin_.mkdir()
    work.mkdir()
    (bin_ / "git").write_text(f'#!{BASH}\n[ "$1" = push ] && printf x >> {single(str(mark))}\nexit 0\n')
    (bin_ / "git").chmod(0o755)
    for program in ("bash", "sh", "env"):
        (bin_ / program).symlink_to(shutil.which(program) or BASH)
    writer = Writer(random.Random(4711))
    ran = read = 0
    for _ in range(LINES):
        line = writer.line(writer.random.randint(1, 3))
        mark.unlink(missing_ok=True)
        # Its own search path holds nothing but the stub and shells.
        surroundings = {"PATH": str(bin_), "FUNCNEST": "3"}
        subprocess.run(
            [BASH, "-c", line],
            cwd=work,
            env=surroundings,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=BASH_S,
            check=False,
        )
        effect = effect_of_command(line, Path("/work-that-is-not-there"))
        read += effect is not Effect.UNKNOWN
        if mark.exists():
            ran += 1
            assert list(Effect).index(effect) >= list(Effect).index(Effect.PUSH), line
    assert ran >= RUNS_AT_LEAST, "most lines push"
    assert read >= READ_AT_LEAST, "most lines are read and not given up"
