"""`keryx auth`: signing in at Google, what is signed in, and signing out. Needs no daemon."""

import dataclasses
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from keryx.config.places import places
from keryx.errors import ConfigError, Refused, Unavailable
from keryx.workspace.auth import CONNECTIONS, INSTALL, LOGIN, GoogleAccount, SignIn, installed
from keryx.workspace.features import GRANTS, Feature

if TYPE_CHECKING:
    from keryx.workspace.signin.signing_in import LoggedIn, SigningIn

CONSENT_WAIT_S = 900.0
"""How long somebody may take with Google's pages: finding a password, a second factor."""
WITHOUT_CLIENT = f"""\
Keryx asks Google as an OAuth client of your own, so that your mail goes through nobody else's hands. Make one, once:
  1. https://console.cloud.google.com/projectcreate - a project, by any name.
  2. Enable in it the Gmail API and the Google Calendar API:
     https://console.cloud.google.com/apis/library/gmail.googleapis.com
     https://console.cloud.google.com/apis/library/calendar-json.googleapis.com
  3. https://console.cloud.google.com/auth/overview - the OAuth consent screen, with yourself as a test user.
     While it stands at "Testing", Google ends every sign-in after seven days; "In production" has no such end.
  4. https://console.cloud.google.com/auth/clients - Create client, kind "Desktop app", then download its JSON.
  5. {LOGIN} --client FILE"""

Event = dict[str, Any]


def log_in(*, only: Iterable[Feature], client: Path | None, headless: bool, as_json: bool) -> None:
    """Walk through Google's consent; what was signed in before stays until this one went well."""
    from keryx.config.files import load
    from keryx.workspace.signin.signing_in import signing_in

    settings, found = load()
    if not installed():
        raise ConfigError(f"signing in at Google needs its packages: run {INSTALL}, then this again")
    account = GoogleAccount(found.google_dir)
    known = account.client(client)
    if known is None:
        print(WITHOUT_CLIENT, file=sys.stderr)
        raise typer.Exit(1)
    features = frozenset(only) or frozenset(Feature)
    before = account.status().address
    browser = not headless and has_browser(os.environ)
    say = _Sayer(as_json)
    say({"type": "asking", "features": _named(features)}, _about_to_ask(features))
    with signing_in(account, known, features, api_url=settings.google.api_url) as login:
        say({"type": "link", "url": login.link}, _how_to(login.link, browser))
        if browser:
            _open(login.link)
        done = wait_for_answer(
            login,
            again=lambda reason: say({"type": "again", "reason": reason}, f"No: {reason}."),
            must_paste=not browser,
        )
    say(
        {"type": "signed_in", **_status(done.sign_in), "missing": _named(done.missing), "notes": list(done.notes)},
        "\n".join(_logged_in(done, before)),
    )


def print_status(*, as_json: bool) -> None:
    """How the owner stands at Google; Google is asked whether it still takes the sign-in."""
    account = GoogleAccount(places().google_dir)
    checked, unknown = account.signed_in and installed(), ""
    if checked:
        try:
            account.check()
        except Unavailable as error:
            checked, unknown = False, str(error)
        except ConfigError:
            pass  # remembered: the status says what is wrong
    status = account.status()
    if as_json:
        known = {**_status(status), "installed": installed(), "checked": checked}
        print(json.dumps(known, ensure_ascii=False, indent=2))
        return
    print("\n".join(_stands(status)))
    if unknown:
        print(f"Not checked now: {unknown}.")
    if status.wrong:
        print(f"To do: {status.wrong}.")
    elif not status.signed_in:
        print(f"To do: run {LOGIN}.")
    if not installed():
        print(f"To do: mail and calendar need their packages: run {INSTALL}.")


def log_out(*, as_json: bool) -> None:
    """Take the sign-in back at Google and forget it here."""
    done = GoogleAccount(places().google_dir).log_out()
    if as_json:
        values = {"was_signed_in": done.was_signed_in, "revoked": done.was_signed_in and not done.problem}
        print(
            json.dumps(
                {**values, "address": done.address, "problem": done.problem or None}, ensure_ascii=False, indent=2
            )
        )
    elif not done.was_signed_in:
        print("Nobody was signed in at Google.")
    elif not done.problem:
        print(f"Signed out{_as(done.address)}: Google has taken the sign-in back.")
    else:
        print(
            f"Signed out{_as(done.address)} on this machine, but Google could not be told: {done.problem}.\n"
            f"To do: take away what Keryx was granted at {CONNECTIONS}."
        )


def has_browser(environ: Mapping[str, str], platform: str = sys.platform) -> bool:
    """Whether a browser opened here would be seen by whoever types: not over SSH, not without a display."""
    if environ.get("BROWSER"):
        return True  # named on purpose; editors that work over SSH set it to one that opens at their user's
    if environ.get("SSH_CONNECTION") or environ.get("SSH_TTY"):
        return False
    return platform == "darwin" or bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


class _Sayer:
    """Says a thing as JSON, one object a line, or in words."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json

    def __call__(self, event: Event, words: str) -> None:
        print(json.dumps(event, ensure_ascii=False) if self._as_json else words, flush=True)


def _open(link: str) -> None:
    """In a process of its own: a browser may print what it likes, and stay as long."""
    quiet = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-m", "webbrowser", link], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True
    )


def wait_for_answer(
    login: "SigningIn", *, again: Callable[[str], object], must_paste: bool, wait_s: float = CONSENT_WAIT_S
) -> "LoggedIn":
    """The first good answer, by the browser or by standard input; `KeryxError` when there is none.

    `again` is told why what was pasted is no answer. `must_paste`: the end of standard input is the end of the wait.
    """
    from keryx.workspace.signin.signing_in import Unfit

    ends = time.monotonic() + wait_s
    typed, pending = sys.stdin.fileno() if sys.stdin else None, b""
    watched: list[Any] = [login] if typed is None else [login, typed]
    while True:
        ready, _, _ = select.select(watched, [], [], max(0.0, ends - time.monotonic()))
        if login in ready:
            return login.take_redirect()
        if not ready or time.monotonic() >= ends:  # an input that never stops is not listened to for ever
            raise Unavailable(f"no answer came from Google's page within {wait_s / 60:.0f} minutes; run {LOGIN} again")
        assert typed is not None
        # Not `sys.stdin.readline`: it could not be waited for together with the browser.
        chunk = os.read(typed, 65536)
        *lines, pending = (pending + chunk).split(b"\n") if chunk else (pending, b"")
        for line in filter(None, (line.decode(errors="replace").strip() for line in lines)):
            try:
                return login.take_pasted(line)
            except Unfit as error:
                again(str(error))
        if not chunk:
            watched.remove(typed)
            if must_paste:
                raise Refused(f"no address was pasted; run {LOGIN} again and paste the one that the browser ends on")


def _about_to_ask(features: frozenset[Feature]) -> str:
    width = max(len(feature) for feature in features)
    lines = ["Keryx will ask Google for leave to:"]
    lines += [f"  {feature:<{width}}  {grant.words}" for feature, grant in GRANTS.items() if feature in features]
    if len(features) > 1:
        first = next(feature for feature in Feature if feature in features)
        lines.append(f"To ask for less, stop here (Ctrl-C) and name what you want, as: {LOGIN} --only {first}")
    return "\n".join(lines)


def _how_to(link: str, browser: bool) -> str:
    if browser:
        return (
            f"Your browser opens Google's page. If it does not, open this link:\n\n{link}\n\n"
            "Once you have agreed there, this ends by itself."
        )
    return (
        f"Open this link in a browser, on any machine:\n\n{link}\n\n"
        "Once you have agreed there, the browser ends on a page that may not load; its address begins with\n"
        "http://127.0.0.1. Copy that whole address, paste it here, and press Enter:"
    )


def _logged_in(done: "LoggedIn", before: str) -> list[str]:
    lines = _stands(done.sign_in)
    if done.missing:
        lines.append("Not granted at Google:")
        lines += [f"  {GRANTS[feature].words}" for feature in GRANTS if feature in done.missing]
        lines.append(f"To do: run {LOGIN} again and tick them, if you want them.")
    lines += [f"To do: {note}." for note in done.notes]
    if before and done.sign_in.address and before != done.sign_in.address:
        lines.append(f"{before} is not signed in here any more; what it granted can be taken away at {CONNECTIONS}.")
    return lines


def _stands(status: SignIn) -> list[str]:
    if status.since is None:
        return ["Not signed in at Google."]
    if status.signed_in:
        lines = [f"Signed in at Google{_as(status.address)}, since {_local(status.since)}."]
    else:
        lines = [f"No longer signed in at Google{_as(status.address)}; it was since {_local(status.since)}."]
    lines += ["Keryx may:", *(f"  {GRANTS[feature].words}" for feature in GRANTS if feature in status.features)]
    if status.signed_in and status.until:
        lines.append(f"The access token works until {_local(status.until)}; a new one is fetched when it is needed.")
    if status.signed_in and status.ends:
        lines.append(f'Google ends this sign-in on {_local(status.ends)}, as long as your project is in "Testing".')
    return lines


def _as(address: str) -> str:
    return f" as {address}" if address else ""


def _local(moment: datetime) -> str:
    return f"{moment.astimezone():%Y-%m-%d %H:%M}"


def _named(features: Iterable[Feature]) -> list[str]:
    wanted = frozenset(features)
    return [str(feature) for feature in Feature if feature in wanted]


def _status(status: SignIn) -> Event:
    values = dataclasses.asdict(status)
    values |= {name: values[name] and values[name].isoformat() for name in ("since", "until", "ends")}
    words = [GRANTS[feature].words for feature in GRANTS if feature in status.features]
    return {
        "service": "google",
        **values,
        "features": _named(status.features),
        "may": words,
        "wrong": status.wrong or None,
    }
