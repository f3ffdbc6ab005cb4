"""A file that came with a message, put on the disk: whole or not at all, over nothing, and nowhere else than allowed.

What the sender called it is their word: it becomes one plain name, and none that an agent or a tool heeds unasked.
Folders are opened step by step without following a link, so that nothing can be put in between the check and the
writing.
"""

import base64
import binascii
import contextlib
import errno
import json
import os
import re
import secrets
import stat
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath

from keryx.errors import Refused, Unavailable
from keryx.workspace.plain import one_line

MOST_NAME_BYTES = 255
MOST_SAME_NAMES = 999
_OTHER_FIELDS_BYTES = 65_536
_PART = re.compile(rb'"data"\s*:\s*"')
_FORBIDDEN = re.compile(r'[\\/:*?"<>|]')
_RESERVED = re.compile(r"(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)")
_HEEDED = re.compile(
    r"(?:claude|agents?|gemini|qwen|copilot-instructions|opencode|codex|conventions)(?:\.(?:local|override))?\.mdc?"
    r"|(?:opencode|mcp|package|composer|deno|devcontainer)\.jsonc?|(?:conftest|setup|sitecustomize|usercustomize)\.py"
    r"|[^/]*\.pth|pyproject\.toml|setup\.cfg|(?:pytest|tox)\.ini|(?:gnu)?makefile|justfile|rakefile|gemfile|build\.rs",
    re.IGNORECASE,
)
"""What agents read as their owner's word, and what tools run, because of its name alone."""
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}


class BrokenAnswer(ValueError):
    """What came is not, or not the whole of, what Gmail answers with."""


def decoded(answer: Iterable[bytes]) -> Iterator[bytes]:
    """The file in the answer to `attachments.get`, which is one JSON object around base64url, as it comes in. Pure.

    Holds one piece at a time, however large the file. `BrokenAnswer` when the object is not whole, or says another
    size than came; what was yielded before is then worth nothing.
    """
    pieces = iter(answer)
    head = b""
    for piece in pieces:
        head += piece
        if found := _PART.search(head):
            break
        if len(head) > _OTHER_FIELDS_BYTES:
            raise BrokenAnswer("no file in it")
    else:
        raise BrokenAnswer("no file in it")
    before, rest, size = head[: found.start()], head[found.end() :], 0
    kept, after = b"", None
    while True:
        text, quote, tail = rest.partition(b'"')
        kept += text
        # JSON may write the padding as an escape; it stands at the end, so only the end can be a part of one.
        whole = len(kept) if quote else (len(kept) - len(kept) % 4 if b"\\" not in kept else kept.index(b"\\") // 4 * 4)
        chunk, kept = kept[:whole], kept[whole:]
        if len(kept) > 64:
            raise BrokenAnswer("no base64")
        content = _base64(chunk)
        size += len(content)
        if content:
            yield content
        if quote:
            after = tail
            break
        rest = next(pieces, None)
        if rest is None:
            raise BrokenAnswer("it broke off")
    for piece in pieces:
        after += piece
        if len(after) > _OTHER_FIELDS_BYTES:
            raise BrokenAnswer("more than a file in it")
    try:
        told = json.loads(before + b'"data":""' + after).get("size", size)
    except (ValueError, AttributeError):
        raise BrokenAnswer("it broke off") from None
    if told != size:
        raise BrokenAnswer(f"{size} bytes came of {told}")


def _base64(text: bytes) -> bytes:
    text = text.replace(b"\\u003d", b"=").replace(b"\\u003D", b"=").rstrip(b"=")
    try:
        return base64.b64decode(text + b"=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except binascii.Error:
        raise BrokenAnswer("no base64") from None


def safe_name(name: str) -> str:
    """A file's name made of whatever a sender called it: one part, visible, not hidden, at most 255 bytes. Pure."""
    text = "".join(_shown(letter) for letter in unicodedata.normalize("NFC", name))
    text = " ".join(_FORBIDDEN.sub("_", text).split()).strip(". ")
    if not text.strip("_ "):
        text = "attachment"
    if _RESERVED.match(text):
        text = f"_{text}"
    return _shortened(text, "")


def _shown(letter: str) -> str:
    """Controls and letters that turn the order around, or cannot be seen, are left out; any kind of space is one."""
    match unicodedata.category(letter):
        case "Cc" | "Zs" | "Zl" | "Zp":
            return " "
        case "Cf" | "Cs" | "Co" | "Cn":
            return ""
        case _:
            return letter


def _shortened(name: str, mark: str) -> str:
    """`name` with `mark` before its ending, cut so that it fits."""
    stem, ending = os.path.splitext(name)
    if len(ending.encode()) > 20:
        stem, ending = name, ""
    room = MOST_NAME_BYTES - len(f"{mark}{ending}".encode())
    return stem.encode()[:room].decode(errors="ignore").rstrip(" ") + mark + ending


def _unheeded(name: str) -> str:
    """`name`, with a word before it where it would be heeded for what it says."""
    # As the disks that know no capitals, and no two ways to write a letter, would look it up.
    if _HEEDED.fullmatch(unicodedata.normalize("NFKC", name)):
        return _shortened(f"attachment {name}", "")
    return name


class Folder:
    """Where files may be put, and attached from: `root` and the folders in it, but for `closed`. `root` must exist.

    What is hidden by a dot is left alone: git, agents and tools keep there what they are to run, and keys.
    """

    def __init__(self, root: Path, *, closed: Path | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        self._closed = Path(os.path.realpath(closed)) if closed else None

    def inside(self, path: str) -> Path:
        """The real path that `path`, absolute or from `root`, leads to; `Refused` when that is outside."""
        try:
            real = Path(os.path.realpath(self.root / path))
        except ValueError:  # a NUL or half a character in it
            real = None
        if real is None or not real.is_relative_to(self.root):
            name = one_line(PurePath(path).name) or "that"
            raise Refused(
                f"{name} is outside the task's own folder, the only one that mail's files come from and go to",
                spoken="I only touch files in the task's own folder.",
            )
        hidden = next((part for part in real.relative_to(self.root).parts if part.startswith(".")), None)
        if hidden or (self._closed and real.is_relative_to(self._closed)):
            raise Refused(
                f"{one_line(hidden or real.name)} is left alone: hidden files and folders hold settings and keys, "
                "so mail's files neither come from there nor go there; use a plain one",
                spoken="I don't touch hidden files or folders for mail.",
            )
        return real

    def put(self, content: Iterable[bytes], *, name: str, wanted: str | None = None, size: int | None = None) -> Path:
        """Write a file called `wanted` (which may begin with a folder that exists) or, made safe, `name`.

        Another file of that name stays; the new one becomes "name (2)". `size` is what must have come in the end.
        Raises `Refused`, `Unavailable` (a full disk, an incomplete file), and what `content` raises; then nothing is
        left.
        """
        where = self.inside(str(PurePath(wanted).parent)) if wanted else self.root
        name = _unheeded(safe_name(PurePath(wanted).name if wanted else name))
        folder = self._opened(where)
        try:
            draft = f".{secrets.token_hex(8)}.part"
            try:
                self._write(folder, draft, content, size)
                return where / _take_name(folder, draft, name)
            except OSError as error:
                raise _unwritten(error) from None
            finally:
                with contextlib.suppress(OSError):
                    os.unlink(draft, dir_fd=folder)
        finally:
            os.close(folder)

    def read(self, path: str, *, most_bytes: int) -> tuple[str, bytes]:
        """The name and the content of a file, absolute or from `root`; `Refused` for one that may not be mailed.

        A file that has other names is none: one of them may be outside.
        """
        real = self.inside(path)
        name = one_line(real.name) or "that"
        folder = self._opened(real.parent) if real != self.root else None
        try:
            # Without waiting: a pipe that nobody writes to would be waited for.
            flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            with open(os.open(real.name if folder else real, flags, dir_fd=folder), "rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise Refused(f"{name} is no file; attach files only", spoken="That isn't a file.")
                if about.st_nlink > 1:
                    raise Refused(
                        f"{name} stands on the disk under another name, too (a hard link), perhaps outside the task's "
                        "folder; attach a copy of it",
                        spoken="That file also belongs somewhere else on the disk. I can only attach a copy.",
                    )
                content = file.read(most_bytes + 1)
        except OSError as error:
            missing = error.errno == errno.ENOENT
            raise Refused(
                f"{name} {'is not there' if missing else f'cannot be read ({error.strerror})'}; nothing was sent",
                spoken="The file to attach isn't there." if missing else "I can't read the file to attach.",
            ) from None
        finally:
            if folder is not None:
                os.close(folder)
        if len(content) > most_bytes:
            raise Refused(
                f"with {name} the letter is larger than the 25 MB that Gmail takes; leave some files out",
                spoken="That is too large to be mailed. Leave out an attachment.",
            )
        return real.name, content

    def _opened(self, where: Path) -> int:
        """A descriptor of the folder `where`, got to from `root` over no link."""
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            folder = os.open(self.root, flags)
            for part in where.relative_to(self.root).parts:
                try:
                    deeper = os.open(part, flags, dir_fd=folder)
                finally:
                    os.close(folder)
                folder = deeper
        except OSError as error:
            missing = error.errno == errno.ENOENT
            raise Refused(
                f"the folder {where.name} {'is not there; make it first' if missing else 'cannot be written to'}",
                spoken="There is no such folder in the task's own." if missing else "I can't write to that folder.",
            ) from None
        return folder

    def _write(self, folder: int, draft: str, content: Iterable[bytes], size: int | None) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        came = 0
        with open(os.open(draft, flags, 0o600, dir_fd=folder), "wb", buffering=0) as file:
            for chunk in content:
                came += len(chunk)
                if size is not None and came > size:
                    break
                view = memoryview(chunk)
                while view:
                    view = view[file.write(view) :]
            if size is not None and came != size:
                raise Unavailable(
                    f"the attachment did not come whole ({came} of {size} bytes); nothing was saved, try again",
                    spoken="The file didn't come through whole, so I saved nothing. Ask me again in a minute.",
                )
            os.fsync(file.fileno())


def _take_name(folder: int, draft: str, name: str) -> str:
    """Give the finished draft the first name that is free; which."""
    for number in range(1, MOST_SAME_NAMES + 1):
        free = name if number == 1 else _shortened(name, f" ({number})")
        try:
            os.link(draft, free, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            # A disk without links: the name is taken by an empty file, which the draft then replaces.
            try:
                os.close(os.open(free, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=folder))
            except FileExistsError:
                continue
            os.replace(draft, free, src_dir_fd=folder, dst_dir_fd=folder)
        return free
    raise Refused(f"there are {MOST_SAME_NAMES} files of that name already; say another one")


def _unwritten(error: OSError) -> Unavailable:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Unavailable(
            "the disk is full: the attachment was not saved and nothing of it is left; make room and try again",
            spoken="The disk is full, so I couldn't save it.",
        )
    return Unavailable(
        f"the attachment could not be written ({type(error).__name__}: {error.strerror}); nothing of it is left",
        spoken="I couldn't write the file.",
    )
