"""A shell line for the ear: what it would do, in a few words, without a path, an option or a symbol. Pure."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path

from keryx.agents.approver import Effect
from keryx.agents.effects.lines import Deed, judged
from keryx.agents.effects.subcommands import ALIASES, VALUED
from keryx.agents.effects.table import RUNNERS, SHELLS
from keryx.agents.effects.words import Word

MAX_CHARS = 80
MAX_NAME_CHARS = 32
MAX_WORDS = 200
MAX_UNWRAPPED = 3
_SOMEWHERE = Path("/somewhere")

_AS_ROOT = frozenset({"sudo", "doas"})
_ASKED = frozenset({Effect.NETWORK, Effect.PUSH, Effect.SEND, Effect.OUTSIDE, Effect.UNKNOWN})
_HOST = re.compile(r"(?:\w+://)?(?:[^/@\s]*@)?([A-Za-z0-9](?:[A-Za-z0-9.-]{0,60}[A-Za-z0-9])?)(?::\S*|[/?#]\S*)?$")
_CALLED = {"git": "git", "python": "Python", "node": "Node", "ruby": "Ruby", "perl": "Perl", "php": "PHP"}

_SIMPLE = {
    "git add": "stage changes in git",
    "git apply": "apply a patch",
    "git branch": "change the branches",
    "git checkout": "check something out in git",
    "git cherry-pick": "take over a commit",
    "git clean": "delete the files that git does not track",
    "git clone": "clone a repository",
    "git commit": "commit the changes",
    "git config": "change the settings of git",
    "git fetch": "fetch from the remote repository",
    "git merge": "merge a branch",
    "git pull": "pull from the remote repository",
    "git rebase": "rebase the branch",
    "git reset": "reset the branch",
    "git restore": "throw away changes",
    "git send-email": "mail patches",
    "git stash": "put changes aside in git",
    "git switch": "switch the branch",
    "git tag": "change the tags",
    "gh api": "talk to GitHub",
    "gh auth": "change how you are signed in to GitHub",
    "gh gist": "put something on GitHub",
    "gh issue close": "close an issue",
    "gh issue comment": "comment on an issue",
    "gh issue create": "open an issue",
    "gh pr checkout": "check out a pull request",
    "gh pr close": "close a pull request",
    "gh pr comment": "comment on a pull request",
    "gh pr create": "open a pull request",
    "gh pr edit": "change a pull request",
    "gh pr merge": "merge a pull request",
    "gh pr ready": "mark a pull request as ready",
    "gh pr review": "review a pull request",
    "gh release create": "publish a release on GitHub",
    "gh release": "change a release on GitHub",
    "gh repo": "change a repository on GitHub",
    "gh secret": "change the secrets of a repository on GitHub",
    "gh workflow": "start a workflow on GitHub",
    "glab issue": "change an issue on GitLab",
    "glab mr": "change a merge request on GitLab",
    "cargo test": "run the tests with cargo",
    "chmod": "change who may use some files",
    "chown": "change who owns some files",
    "crontab": "change the scheduled jobs",
    "docker build": "build an image with docker",
    "docker compose": "start or stop containers with docker",
    "docker exec": "run something in a container",
    "docker pull": "fetch an image with docker",
    "docker push": "push an image with docker",
    "docker run": "run a container with docker",
    "go test": "run the tests with go",
    "halt": "shut the machine down",
    "kill": "stop other processes",
    "killall": "stop other processes",
    "npm test": "run the tests with npm",
    "osascript": "control other programs on this machine",
    "pkill": "stop other processes",
    "poweroff": "shut the machine down",
    "reboot": "restart the machine",
    "service": "change a service of the machine",
    "shutdown": "shut the machine down",
    "systemctl": "change a service of the machine",
}
_TESTS = frozenset("pytest tox nox jest vitest mocha rspec phpunit ctest unittest ava playwright cypress".split())
_MAILERS = frozenset("mail mailx mutt neomutt sendmail msmtp swaks s-nail ssmtp himalaya".split())
_INSTALLS = frozenset("install add i ci sync get require update upgrade up restore fetch lock download".split())
_MANAGERS = frozenset(
    """apk apt apt-get brew bun bundle cargo composer conda dnf dotnet gem go npm pacman pdm pip pipenv pipx pnpm poetry
    uv yarn yum zypper""".split()
)
_FETCHERS = frozenset("curl wget http https httpie xh ssh scp sftp rsync nc telnet ping".split())


def spoken_command(command: str, inside: Path | None = None) -> str:
    """What `command` would do, to follow "wants to": "push to origin", "run the tests with pytest".

    Of several things the worst is named, and that there are more. `inside`: the task's directory, when it is known;
    without it an absolute path counts as outside. At most `MAX_CHARS` characters; never empty, never raises.
    """
    effect, deeds = judged(command, inside or _SOMEWHERE)
    if not deeds:
        return "do nothing" if effect is Effect.READ else "run a command that I can't read"
    if effect is not max(deeds, key=_weight).effect and effect is Effect.UNKNOWN:
        return "run a command that only shows when it runs"
    worst_deed = max(deeds, key=_weight)
    said = _said(worst_deed)
    if {_said(deed) for deed in deeds if deed.effect in _ASKED} - {said}:
        said = f"{said}, and more"
    return said if len(said) <= MAX_CHARS else f"{said[:MAX_CHARS].rpartition(' ')[0]}…"


def _weight(deed: Deed) -> int:
    return list(Effect).index(deed.effect)


def _said(deed: Deed, unwrapped: int = 0) -> str:
    program, words = deed.words[0], deed.words[1:]
    if not program.known or program.glob:
        return "run a command that only shows when it runs"
    name = program.text.rpartition("/")[2]
    name = re.sub(r"^(python|pip|node|ruby|perl|php)[\d.]+$", r"\1", name)
    plain = _plain_words(name, words)
    for length in (2, 1, 0):
        if len(plain) >= length and (said := _SIMPLE.get(" ".join((name, *plain[:length])))):
            return said
    if unwrapped < MAX_UNWRAPPED and (inner := _inner(name, words, plain)):
        return _said(Deed(deed.effect, inner), unwrapped + 1)
    if name in _AS_ROOT and unwrapped < MAX_UNWRAPPED:
        return _as_root(deed, unwrapped + 1)
    return _described(name, words, plain, deed.effect)


def _inner(name: str, words: Sequence[Word], plain: Sequence[str]) -> tuple[Word, ...]:
    """What a program like "uv run" or "npx" runs, as long as that is told by its first words."""
    name = ALIASES.get(name, name)
    for subcommand in RUNNERS.get(name, ((), Effect.RUN))[0]:
        own = subcommand.split()
        if list(plain[: len(own)]) == own and len(plain) > len(own):
            at = next((at for at, word in enumerate(words) if word.text == plain[len(own)]), len(words))
            return tuple(words[at:])
    return ()


def _described(name: str, words: Sequence[Word], plain: Sequence[str], effect: Effect) -> str:
    rule: Callable[[Sequence[Word], Sequence[str], Effect], str] | None = _RULES.get(name)
    if rule:
        return rule(words, plain, effect)
    if name in SHELLS:
        script = next((word for word in plain if word), "")
        return f"run the script {_name(script)}" if script else "run a script that only shows when it runs"
    if name in _TESTS:
        return f"run the tests with {name}"
    if name in _MAILERS:
        return "send a mail"
    if name in _CALLED and name != "git":
        return _interpreted(name, words, plain, effect)
    if "publish" in plain[:2] or name == "twine":
        return f"publish a package with {_name(name)}"
    if name in _MANAGERS and any(word in _INSTALLS for word in plain[:2]):
        return _installed(name, plain)
    if name in ("npm", "pnpm", "yarn", "bun") and plain[:1] == ["run"] and len(plain) > 1:
        return f"run the script {_name(plain[1])} with {name}"
    if name in _FETCHERS:
        return _reached(name, words)
    if name in ("make", "just", "task", "rake") and plain:
        return f"run {name} {_name(plain[0])}"
    with_subcommand = (name in VALUED or effect is Effect.PUSH) and plain and re.match(r"[a-z]{1,16}$", plain[0])
    return f"run {_name(name)} {plain[0]}" if with_subcommand else f"run {_name(name)}"


def _plain_words(name: str, words: Sequence[Word]) -> list[str]:
    """The words that are no options; of an option that takes one of them, not that either."""
    found: list[str] = []
    valued = VALUED.get(name, frozenset())
    waiting = iter(words[:MAX_WORDS])
    for word in waiting:
        if word.text in valued:
            next(waiting, None)
        elif not word.text.startswith("-"):
            found.append(word.text if word.known else "")
    return found


def _name(text: str, otherwise: str = "a program") -> str:
    """The last part of a path or name as one says it: "parse_dates.py" is "parse dates dot py"."""
    text = text.rstrip("/").rpartition("/")[2]
    text = re.sub(r"(?<=\w)\.(?=\w)", " dot ", text)
    text = " ".join(re.sub(r"[\W_]+", " ", text).split())
    sayable = 0 < len(text) <= MAX_NAME_CHARS and any(char.isalpha() for char in text)
    return text if sayable and not re.search(r"\d{5}|[0-9a-f]{12}", text) else otherwise


def _thing(path: str, kind: str) -> str:
    if path in ("/", "~", "~/", "."):
        return {"/": "the whole disk", ".": "everything in its folder"}.get(path, "your home folder")
    if not path or re.search(r"[*?\[$]", path):
        return "some files"
    name = _name(path, "")
    return f"the {kind} {name}" if name else f"a {kind}"


def _removed(words: Sequence[Word], plain: Sequence[str], effect: Effect) -> str:
    if "" in plain:
        return "delete something that only shows when it runs"
    if plain in (["/"], ["~"], ["~/"]):
        return f"delete {_thing(plain[0], 'folder')}"
    return f"delete {_things(words, plain)}{_where(effect)}"


def _things(words: Sequence[Word], plain: Sequence[str]) -> str:
    if len(plain) > 1:
        return f"{len(plain)} files or folders"
    folder = any(re.match(r"-[a-zA-Z]*[rR]|--recursive", word.text) for word in words)
    return _thing(plain[0] if plain else "", "folder" if folder else "file")


def _where(effect: Effect) -> str:
    return " outside the project" if effect is Effect.OUTSIDE else ""


def _verb(verb: str, kind: str = "file") -> Callable[[Sequence[Word], Sequence[str], Effect], str]:
    def rule(words: Sequence[Word], plain: Sequence[str], effect: Effect) -> str:
        return f"{verb} {_thing(plain[0] if plain else '', kind)}{_where(effect)}"

    return rule


def _pushed(words: Sequence[Word], plain: Sequence[str], effect: Effect) -> str:
    if plain[:1] != ["push"]:
        return f"run git {_name(plain[0])}" if plain else "run git"
    options = {word.text for word in words}
    remote = plain[1] if len(plain) > 1 else ""
    remote = (
        "another repository" if re.search(r"[:/$]", remote) or remote == "" and len(plain) > 1 else _name(remote, "")
    )
    to = f" to {remote}" if remote else ""
    branch = _name(plain[2].replace("/", " "), "a branch") if len(plain) > 2 and plain[2] else ""
    if options & {"-d", "--delete"}:
        return f"delete the branch {branch}{f' on {remote}' if remote else ''}"
    verb = "force-push" if any(o.startswith("--force") or o in ("-f", "--mirror") for o in options) else "push"
    if "--tags" in options:
        return f"{verb} the tags{to}"
    if branch and branch != "HEAD":
        return f"{verb} the branch {branch}{to}"
    return f"{verb}{to or ' the commits'}"


def _installed(name: str, plain: Sequence[str]) -> str:
    at = next(at for at, word in enumerate(plain) if word in _INSTALLS)
    packages = plain[at + 1 :]
    one = re.split(r"[=<>~!@\[]", packages[0], maxsplit=1)[0] if len(packages) == 1 else ""
    one = "" if re.search(r"[./]", one) else _name(one, "")
    return f"install {one or 'packages'} with {_name(name)}"


def _reached(name: str, words: Sequence[Word]) -> str:
    host = next((found[1] for w in words if w.known and "." in w.text and (found := _HOST.match(w.text))), "")
    host = host.replace(".", " dot ") if 0 < len(host) <= MAX_NAME_CHARS else ""
    sends = any(re.match(r"-[dFT]|--data|--form|--upload|--json|--post", word.text) for word in words)
    if host:
        return f"send data to {host}" if sends else f"reach {host} with {name}"
    return f"{'send data to' if sends else 'reach'} another machine with {name}"


def _interpreted(name: str, words: Sequence[Word], plain: Sequence[str], effect: Effect) -> str:
    called = _CALLED[name]
    if any(word.text in ("-c", "-e", "--eval", "-r") for word in words):
        return f"run a piece of {called}"
    if any(word.text == "-m" for word in words):
        return f"run the {called} module {_name(plain[0])}" if plain else f"run {called}"
    return f"run the {called} script {_name(plain[0])}" if plain and plain[0] else f"run {called}"


def _as_root(deed: Deed, unwrapped: int) -> str:
    own = (at for at, word in enumerate(deed.words) if at and not re.match(r"-|\w+=", word.text))
    inner = deed.words[next(own, len(deed.words)) :]
    return f"{_said(Deed(deed.effect, inner), unwrapped)} as root" if inner else "become root"


def _found(words: Sequence[Word], plain: Sequence[str], effect: Effect) -> str:
    return f"delete the files it finds{_where(effect)}" if any(w.text == "-delete" for w in words) else "look for files"


_RULES: dict[str, Callable[[Sequence[Word], Sequence[str], Effect], str]] = {
    ">": _verb("write"),
    "cp": _verb("copy"),
    "find": _found,
    "git": _pushed,
    "ln": _verb("link"),
    "mkdir": _verb("make", "folder"),
    "mv": _verb("move"),
    "rm": _removed,
    "rmdir": _verb("delete", "folder"),
    "tee": _verb("write"),
    "touch": _verb("make"),
    "unlink": _verb("delete"),
}
