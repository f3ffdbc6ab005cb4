"""What the programs do that need more than a table, and which rule is whose."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from keryx.agents.approver import Effect
from keryx.agents.effects import subcommands, table
from keryx.agents.effects.call import Call, effect_of_variable
from keryx.agents.effects.paths import worst
from keryx.agents.effects.programs import interpreter, outputs, plain, shell, subcommand, wrapped, written
from keryx.agents.effects.words import Word

_SYSTEM = re.compile(r"/(?:usr/(?:local/)?)?s?bin/|/opt/homebrew/bin/")
_LETS_RUN = frozenset({Effect.CHANGE, Effect.RUN, Effect.PACKAGES})


def effect_of_call(call: Call) -> Effect:
    """What the program does. Raises `Unreadable`."""
    program = call.program
    moved = [*call.values(*table.MOVES.get(program, ()))]
    if moved:
        place = call.place.copy()
        for word in moved:
            place.go(word)
        call = replace(call, place=place)
    effect = _effect(call, program)
    if effect in _LETS_RUN and program not in table.WRITES:
        effect = worst((effect, call.place.here()))
    if effect is Effect.READ and "/" in call.name and not _SYSTEM.match(call.name):
        effect = Effect.RUN  # somebody's own program, whatever its name
    if program not in ("echo", "printf"):
        effect = worst((effect, *(call.place.looked_at(word) for word in call.words)))
    return effect


def _effect(call: Call, program: str) -> Effect:
    if rule := _RULES.get(program):
        return rule(call)
    if program in table.SHELLS:
        return shell(call)
    if program in table.WRAPPERS:
        return wrapped(call, program)
    if program in table.INTERPRETERS:
        return interpreter(call)
    if program in table.WRITES:
        return written(call, table.WRITES[program])
    if program in subcommands.OTHERWISE or program in table.RUNNERS:
        return subcommand(call, program)
    return plain(call, program)


def _unless(effect: Effect, pattern: str, otherwise: Effect = Effect.RUN) -> Callable[[Call], Effect]:
    """`effect`, unless a word fits `pattern`: then at least `otherwise`."""
    strange = re.compile(pattern, re.DOTALL)

    def rule(call: Call) -> Effect:
        return worst((effect, otherwise)) if any(strange.search(word.text) for word in call.words) else effect

    return rule


def _git(call: Call) -> Effect:
    words = call.positional(subcommands.VALUED["git"])
    texts = [*(word.text for word in words[:2]), "", ""]
    found = [subcommand(call, "git")]
    # "-c alias.x=!command" makes a subcommand of anything.
    own = call.words[: call.words.index(words[0])] if words else call.words
    for word in replace(call, words=own).values("-c", "--config-env"):
        found.append(Effect.UNKNOWN if word.text.startswith("alias.") or not word.known else Effect.RUN)
    match texts[0]:
        case "branch" | "tag" | "stash" | "remote" | "config" | "notes" | "worktree" if _only_lists(call, texts):
            return worst((Effect.READ, *found[1:]))
        case "config" if call.has("--global|--system|--file|-f"):
            found.append(Effect.OUTSIDE)
        case "clone" if len(words) > 1 and words[1].known and re.match(r"[./~]|file:", texts[1]):
            found = [Effect.CHANGE, *(call.place.effect(word) for word in words[2:3])]
        case "clone":
            found += [call.place.effect(word) for word in words[2:3]]
        case "init":
            found += [call.place.effect(word) for word in words[1:2]]
        case "worktree" | "bundle" | "clean" | "mv" | "restore" | "rm":
            found += [call.place.effect(word) for word in words[1:]]
        case "rebase":
            # "-ix 'make check'": where its line begins depends on the letters before it.
            found += [Effect.UNKNOWN] * call.has("-[a-wyzA-Z]+x.*")
            found += [call.script(w.text) if w.known else Effect.UNKNOWN for w in call.values("-x", "--exec")]
        case "archive" if call.has("--remote"):
            found.append(Effect.NETWORK)
        case _:
            pass
    if texts[0] in ("archive", "format-patch", "diff", "log", "show", "bundle"):
        found += outputs(call)
    if call.has("--ext-diff|--open-files-in-pager|-O.*") and texts[0] in ("grep", "diff", "log", "show"):
        found.append(Effect.RUN)
    return worst(found)


def _only_lists(call: Call, texts: Sequence[str]) -> bool:
    """Whether a subcommand that can do both only shows what there is."""
    rest = [word.text for word in call.words]
    rest = rest[rest.index(texts[0]) + 1 :]
    match texts[0]:
        case "branch" | "tag":
            return all(_LISTS.match(text) for text in rest)
        case "remote":
            return all(text in ("-v", "--verbose") for text in rest)
        case "config":
            return any(text in ("--list", "-l", "list", "get") or text.startswith("--get") for text in rest[:3])
        case _:
            return texts[1] in ("list", "show")


_LISTS = re.compile(
    r"-(?:[arvl]{1,3}|vv|n\d*|-all|-remotes|-verbose|-list|-show-current|-column|-(?:sort|format|contains|no-contains|merged"
    r"|no-merged|points-at|color)(?:=.*)?)$"
)


def _github(call: Call) -> Effect:
    effect = subcommand(call, "gh")
    words = call.positional(subcommands.VALUED["gh"])
    if words and words[0].text == "api":
        methods = [word.text.upper() for word in call.values("-X", "--method")]
        sends = call.has("-[fF].*|--field|--raw-field|--input")
        return Effect.SEND if (methods and methods[-1] not in ("GET", "HEAD")) or (sends and not methods) else effect
    return effect


def _find(call: Call) -> Effect:
    begun, given = 0, call.words
    while begun < len(given) and re.match(r"-(?:[HLP]|O\d+|D)$", given[begun].text):
        begun += 2 if given[begun].text == "-D" else 1
    first = next((at for at in range(begun, len(given)) if re.match(r"[-(!]", given[at].text)), len(given))
    listed = [Word("$()", known=False)] if call.has("-files0-from") else []
    starts = (*listed, *given[begun:first]) or (Word("."),)
    found = [Effect.READ]
    words = list(given[first:])
    while words:
        word = words.pop(0)
        if word.text == "-delete":
            found += [Effect.CHANGE, *(call.place.effect(start) for start in starts)]
        elif word.text in ("-fprint", "-fprint0", "-fprintf", "-fls"):
            found += [Effect.CHANGE, *(call.place.effect(path) for path in words[:1])]
        elif word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            end = next((at for at, w in enumerate(words) if w.text in (";", "+")), len(words))
            for start in starts[:8]:
                found.append(call.again([start if w.text == "{}" else w for w in words[:end]]))
            words = words[end:]
        elif not word.known and not word.bare:
            continue
        elif not word.known:
            found.append(Effect.RUN)
    return worst(found)


def _fd(call: Call) -> Effect:
    for at, word in enumerate(call.words):
        if word.text in ("-x", "-X", "--exec", "--exec-batch"):
            return call.again([*call.words[at + 1 :], Word("$()", known=False)])
    return Effect.READ


_CURL_VALUED = frozenset(
    """-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --json -F --form -o --output -u
    --user -A --user-agent -e --referer -b --cookie -c --cookie-jar -m --max-time --connect-timeout -w --write-out
    --retry --retry-delay --retry-max-time -T --upload-file -O --output-document -P --directory-prefix -t --tries
    --timeout --max-redirs -D --dump-header --url --cacert --cert --key""".split()
)


def _fetch(call: Call) -> Effect:
    """curl and wget: a server on this machine's loopback, or another machine."""
    wget = call.program.startswith("wget")
    valued = _CURL_VALUED if wget else _CURL_VALUED - {"-O", "-P"}
    targets = [*call.positional(valued), *call.values("--url")]
    local = bool(targets) and all(table.LOOPBACK.match(word.text) for word in targets)
    if wget and call.has("-e.*|--execute|--config"):
        local = False
    if call.has(
        "-K.*|--config|-x.*|--(?:all-|pre)?proxy.*|--socks.*|--resolve|--connect-to|--.*unix-socket|-i|--input-file"
    ):
        local = local and not wget and not call.has("-K.*|-x.*|--.{3,}")
    places = call.values(
        *(
            ("-O", "-P", "--output-document", "--directory-prefix", "-o", "--output-file", "-a", "--append-output")
            if wget
            else ("-o", "--output", "-D", "--dump-header", "-c", "--cookie-jar")
        )
    )
    found = [call.place.effect(word) for word in places if word.text != "-"]
    return worst((Effect.RUN if local else Effect.NETWORK, *found))


def _rsync(call: Call) -> Effect:
    words = call.positional(frozenset({"--exclude", "--include", "-f", "--filter", "--exclude-from"}))
    if call.has("-e.*|--rsh") or any(not w.known or re.match(r"[^/]*:|rsync:", w.text) for w in words):
        return Effect.NETWORK
    return worst((Effect.CHANGE, *(call.place.effect(word) for word in words[-1:])))


def _sed(call: Call) -> Effect:
    files = call.positional(frozenset({"-e", "--expression", "-f", "--file", "-l"}))
    scripts = list(call.values("-e", "--expression"))
    if not scripts and not call.has("-f.*|--file"):
        scripts, files = files[:1], files[1:]
    found = [Effect.READ]
    if any(not word.known or re.search(r"(?:^|[;{}/|\d$\n])[gpiImM\d\s]*[ewW](?:\s|$)", word.text) for word in scripts):
        found.append(Effect.RUN)
    if call.has(r"-[a-zA-Z]*[iI].*|--in-place"):
        found += [Effect.CHANGE, *(call.place.effect(word) for word in files)]
    return worst(found)


def _tar(call: Call) -> Effect:
    how = call.words[0].text if call.words else ""
    bundle = how.lstrip("-") if not how.startswith("--") else ""
    if call.has("--to-command|-I.*|--use-compress-program|--checkpoint-action|--rsh-command"):
        return Effect.RUN
    if "t" in bundle or call.has("--list|-[a-zA-Z]*t[a-zA-Z]*"):
        return Effect.READ
    found = [Effect.OUTSIDE] if call.has("-P|--absolute-names") else [Effect.CHANGE]
    if not ("x" in bundle or call.has("--extract|--get|-[a-zA-Z]*x[a-zA-Z]*")):
        archives = [*call.values("--file"), *(call.words[1:2] if bundle.endswith("f") else call.values("-f"))]
        found += [call.place.effect(word) for word in archives if word.text != "-"]
    return worst(found)


def _unzip(call: Call) -> Effect:
    if call.has("-[a-zA-Z]*[ltpzZ].*"):
        return Effect.READ
    return worst((Effect.CHANGE, *(call.place.effect(word) for word in call.values("-d"))))


def _copied_blocks(call: Call) -> Effect:
    targets = [replace(word, text=word.text[3:]) for word in call.words if word.text.startswith("of=")]
    return worst(call.place.effect(word) for word in targets) if targets else Effect.READ


def _second_path(call: Call) -> Effect:
    """uniq, xxd: a second path is written to."""
    written_to = call.positional(frozenset({"-f", "-s", "-w", "-l", "-c", "-g", "-o", "-n"}))[1:2]
    return worst((Effect.READ, *(call.place.effect(word) for word in written_to)))


def _output(call: Call) -> Effect:
    """sort, tree, iconv: an option names where the result goes."""
    return worst((*outputs(call), *(call.place.effect(word) for word in call.values("-o"))))


def _kill(call: Call) -> Effect:
    words = [word.text for word in call.words]
    own = all(re.match(r"-|%\d*$|\$!$", text) for text in words)
    return (Effect.READ if "-l" in words else Effect.RUN) if own else Effect.OUTSIDE


def _sourced(call: Call) -> Effect:
    first = call.words[:1]
    return Effect.RUN if all(word.known and not word.text.startswith("/dev/") for word in first) else Effect.UNKNOWN


def _trap(call: Call) -> Effect:
    if not call.words or call.words[0].text in ("-", "-p", "-l", ""):
        return Effect.READ
    return call.script(call.words[0].text) if call.words[0].known else Effect.UNKNOWN


def _variables(call: Call) -> Effect:
    return worst(effect_of_variable(*word.text.partition("=")[::2]) for word in call.words if "=" in word.text)


def _go(call: Call) -> Effect:
    if [word.text for word in call.words[:2]] == ["env", "-w"]:
        return Effect.OUTSIDE
    return worst((subcommand(call, "go"), *outputs(call)))


_RULES: dict[str, Callable[[Call], Effect]] = {
    ".": _sourced,
    "awk": _unless(
        Effect.READ, r"system\s*\(|\||>>|>\s*[^\s\d=]|getline|^-[iEl]|inplace|@load|^--(?:include|exec|load)"
    ),
    "curl": _fetch,
    "date": _unless(Effect.READ, r"^-s|^--set", Effect.OUTSIDE),
    "dd": _copied_blocks,
    "export": _variables,
    "declare": _variables,
    "fd": _fd,
    "fdfind": _fd,
    "find": _find,
    "gh": _github,
    "git": _git,
    "go": _go,
    "hostname": _unless(Effect.READ, r"^[^-]", Effect.OUTSIDE),
    "iconv": _output,
    "kill": _kill,
    "local": _variables,
    "openssl": _unless(Effect.RUN, r"^s_client$", Effect.NETWORK),
    "patch": _unless(Effect.CHANGE, r"^-[do]|^--(?:directory|output)|^/|^\.\.", Effect.OUTSIDE),
    "readonly": _variables,
    "rg": _unless(Effect.READ, r"^--(?:pre|hostname-bin)"),
    "ripgrep": _unless(Effect.READ, r"^--(?:pre|hostname-bin)"),
    "rsync": _rsync,
    "sed": _sed,
    "sort": lambda call: worst((_output(call), _unless(Effect.READ, r"^--compress-program")(call))),
    "source": _sourced,
    "tar": _tar,
    "trap": _trap,
    "tree": _output,
    "typeset": _variables,
    "uniq": _second_path,
    "unzip": _unzip,
    "wget": _fetch,
    "wget2": _fetch,
    "xxd": _second_path,
    "yq": _unless(Effect.READ, r"^-[a-zA-Z]*i|^--inplace", Effect.CHANGE),
}
_RULES["gawk"] = _RULES["mawk"] = _RULES["awk"]
