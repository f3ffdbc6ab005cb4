"""What a program that is run for an agent gets to see of the owner's environment."""

import os

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


def small_environment(**extra: str) -> dict[str, str]:
    """The few variables a program needs of ours, and `extra`; no keys, and nothing that bends git or Python."""
    return {name: os.environ[name] for name in _PASSED_ON if name in os.environ} | extra
