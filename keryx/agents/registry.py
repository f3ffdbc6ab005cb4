"""Which agents there are, and what they are called aloud."""

from collections.abc import Mapping

from keryx.agents.base import AgentRunner
from keryx.errors import ConfigError, NotFound

_SPOKEN_NAMES = {"claude": "Claude", "codex": "Codex", "fake": "the demo agent", "acp": "ACP"}


def spoken_name(name: str) -> str:
    """What the agent called `name` in settings is called aloud."""
    return _SPOKEN_NAMES.get(name.casefold()) or " ".join(name.replace("_", " ").replace("-", " ").split()).title()


class AgentRegistry:
    """The agents that can be asked, by name; upper and lower case are the same."""

    def __init__(self, runners: Mapping[str, AgentRunner], default: str) -> None:
        """Raises `ConfigError` when `default` is not among `runners`."""
        self._runners = {name.casefold(): runner for name, runner in runners.items()}
        self.default = default.casefold()
        if self.default not in self._runners:
            there = f"there is {', '.join(self.names())}" if self._runners else "no agent is installed"
            raise ConfigError(f'the default agent "{default}" is not installed; {there}')

    def names(self) -> tuple[str, ...]:
        """The installed ones, the default first."""
        return tuple(sorted(self._runners, key=lambda name: (name != self.default, name)))

    def get(self, name: str | None) -> AgentRunner:
        """The agent called `name`, or the default for None. Raises `NotFound`, which names the installed ones."""
        runner = self._runners.get((name or self.default).strip().casefold())
        if runner is None:
            raise NotFound(
                f'no agent "{name}"; there is {", ".join(self.names())}',
                spoken=f"I don't have that agent. I have {_listed([spoken_name(name) for name in self.names()])}.",
            )
        return runner


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
