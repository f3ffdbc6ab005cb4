"""Which agents there are: one table entry for each kind, and the ones that can be asked, with what they are called."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from keryx.agents.acp.known import known_by
from keryx.agents.base import AgentRunner
from keryx.agents.credentials import Credentials, Tier, claude_login, codex_login
from keryx.agents.equipment import Equipment
from keryx.errors import ConfigError, NotFound

_SPOKEN_NAMES = {"claude": "Claude", "codex": "Codex", "fake": "the demo agent", "acp": "ACP"}

_MODEL_ID = re.compile(r"(?=.*[\d./:-])[A-Za-z0-9][\w./:@\[\]-]{1,99}")
"""What a model's id looks like, which a caller's word for it ("the big one") does not."""


def spoken_name(name: str) -> str:
    """What the agent called `name` in settings is called aloud."""
    return _SPOKEN_NAMES.get(name.casefold()) or " ".join(name.replace("_", " ").replace("-", " ").split()).title()


@dataclass(frozen=True)
class Backend:
    """One kind of agent: what it is called, what it needs, what it can do, and how its runner is made."""

    name: str
    extra: str
    """The extra of this package that brings it."""
    package: str
    """The distribution whose version is the agent's, as far as one knows without starting it."""
    module: str
    """What can be imported when the extra is installed."""
    program: str
    """The program's name on PATH."""
    build: Callable[[Equipment], AgentRunner]
    """Makes the runner; imports its adapter."""
    warm: Callable[[], None] = lambda: None
    """Loads what its adapter needs, when that takes long."""
    credentials: Credentials = field(default_factory=Credentials)
    sign_in: str = ""
    """What to do when it is not signed in, as half a sentence; {program} stands for what starts it."""
    bundled: tuple[str, str] | None = None
    """Where the package brings the program along: a module, and the path inside its folder."""
    also_called: tuple[str, ...] = ()
    """More names that people say, lower case."""
    models: Mapping[str, str] = field(default_factory=dict)
    """What people call its models → the id it is given; empty when only the agent itself knows them."""
    spelled: tuple[tuple[str, str], ...] = ()
    """Ways of naming one (a pattern for the words, joined by "-") → the id, as `re.sub` writes it."""
    instructions: str = "AGENTS.md"
    """The file of a project that it reads its instructions from."""
    follow_ups: bool = True
    """Takes more text while it works."""
    asks: bool = True
    """Asks before what its mode does not allow."""
    sandboxed: bool = False
    """Keeps its commands in a sandbox of its own."""
    resumes: bool = True
    """Takes an old conversation up again."""

    @property
    def called(self) -> str:
        """Its name as it is said aloud."""
        return spoken_name(self.name)

    @property
    def install(self) -> str:
        """The one command that installs it."""
        return f"pip install 'keryx[{self.extra}]'"

    def model(self, said: str) -> str:
        """The id of the model that somebody calls `said`; a word that could be an id is taken for one.

        An agent whose models nobody here knows is told what was said, and looks among its own. Raises `NotFound`, which
        names the known ones.
        """
        if not self.models:
            return said.strip()
        words = said.replace("-", " ").replace("_", " ").casefold().split()
        while len(words) > 1 and words[0] in (self.name, "the"):
            words = words[1:]
        for known, model_id in self.models.items():
            if words == known.replace("-", " ").split():
                return model_id
        for pattern, model_id in self.spelled:
            if found := re.fullmatch(pattern, "-".join(words)):
                return found.expand(model_id)
        if _MODEL_ID.fullmatch(said.strip()):
            return said.strip()
        raise NotFound(
            f'{self.name} has no model "{said.strip()}"; it knows {", ".join(self.models)}',
            spoken=f"{self.called} has no model of that name. It knows {_listed(list(self.models)[:4])}.",
        )


def _claude(equipment: Equipment) -> AgentRunner:
    from keryx.agents.claude.runner import ClaudeAgentRunner

    return ClaudeAgentRunner(equipment)


def _warm_claude() -> None:
    from keryx.agents.claude.launch import load_sdk

    load_sdk()


def _codex(equipment: Equipment) -> AgentRunner:
    from keryx.agents.codex.runner import CodexAgentRunner

    return CodexAgentRunner(equipment)


CLAUDE = Backend(
    name="claude",
    extra="claude",
    package="claude-agent-sdk",
    module="claude_agent_sdk",
    program="claude",
    build=_claude,
    warm=_warm_claude,
    credentials=Credentials(
        (
            Tier("API key", "ANTHROPIC_API_KEY", "api_key"),
            Tier("gateway token", "ANTHROPIC_AUTH_TOKEN"),
            Tier("headless token", "CLAUDE_CODE_OAUTH_TOKEN", "auth_token"),
        ),
        stored=claude_login,
        # How Claude Code hands its own login down to what it starts, the daemon perhaps.
        never=frozenset(
            {
                "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
                "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
            }
        ),
    ),
    sign_in="run {program} and type /login, or put what `{program} setup-token` prints into claude.auth_token",
    bundled=("claude_agent_sdk", "_bundled/claude"),
    also_called=("claude code", "anthropic"),
    # The aliases are Claude Code's own: each stands for the newest of its kind.
    models={"opus": "opus", "sonnet": "sonnet", "haiku": "haiku", "fable": "fable"},
    spelled=(
        (r"(opus|sonnet|haiku)-(\d+)", r"claude-\1-\2"),
        (r"(opus|sonnet|haiku)-(\d+)[.-](\d+)", r"claude-\1-\2-\3"),
    ),
    instructions="CLAUDE.md",
)
CODEX = Backend(
    name="codex",
    extra="codex",
    package="openai-codex-cli-bin",
    module="codex_cli_bin",
    program="codex",
    build=_codex,
    credentials=Credentials(
        (Tier("API key", "CODEX_API_KEY", "api_key"),),
        stored=codex_login,
        # The voice model's key, and a token that the app-server does not take.
        never=frozenset({"OPENAI_API_KEY", "CODEX_ACCESS_TOKEN"}),
    ),
    sign_in="run {program} login, or put an API key into codex.api_key",
    bundled=("codex_cli_bin", "bin/codex"),
    also_called=("openai codex",),
    # A short name stands for the newest of its kind that Codex 0.163 lists.
    models={
        "sol": "gpt-6.1-sol",
        "luna": "gpt-6-luna",
        "astra": "gpt-6-astra",
        "terra": "gpt-5.6-terra",
        **{
            known: known
            for known in (
                *("gpt-6.1-sol", "gpt-6-sol", "gpt-6-luna", "gpt-6-astra"),
                *("gpt-5.6-sol", "gpt-5.6-luna", "gpt-5.6-terra", "gpt-5.5"),
            )
        },
    },
    spelled=((r"gpt-?(\d+(?:\.\d+)?)((?:-[a-z]+)*)", r"gpt-\1\2"),),
    sandboxed=True,
)


def acp_backend(name: str, command: tuple[str, ...]) -> Backend:
    """The agent that the owner calls `name`, which speaks ACP when it is started by `command`."""
    known = known_by(command)
    steers = known is not None and known.steers

    def build(equipment: Equipment) -> AgentRunner:
        from keryx.agents.acp.runner import AcpAgentRunner

        return AcpAgentRunner(equipment, name=name, called=spoken_name(name), command=command, steers=steers)

    return Backend(
        name=name,
        extra="acp",
        package="agent-client-protocol",
        module="acp",
        program=command[0],
        build=build,
        sign_in=f"sign {name} in by its own means, and name a key's variable in agents.pass_environment",
        follow_ups=steers,
    )


class AgentRegistry:
    """The agents that can be asked, by name; upper and lower case are the same."""

    def __init__(self, runners: Mapping[str, AgentRunner], default: str, backends: Iterable[Backend] = ()) -> None:
        """`backends`: what is known of the runners; one of which nothing is known takes any model.

        Raises `ConfigError` when `default` is not among `runners`.
        """
        self._runners = {name.casefold(): runner for name, runner in runners.items()}
        self._backends = {backend.name: backend for backend in backends if backend.name in self._runners}
        self.default = default.casefold()
        if self.default not in self._runners:
            there = f"there is {', '.join(self.names())}" if self._runners else "no agent is installed"
            raise ConfigError(f'the default agent "{default}" is not installed; {there}')

    def warm(self) -> None:
        """Load what the agents' adapters need, so that the first task need not wait for it. Blocks for about 1 s."""
        for backend in self._backends.values():
            backend.warm()

    def names(self) -> tuple[str, ...]:
        """The installed ones, the default first."""
        return tuple(sorted(self._runners, key=lambda name: (name != self.default, name)))

    def spoken_names(self) -> dict[str, tuple[str, ...]]:
        """For each installed one, what people call it; the name it is called aloud first."""
        return {
            name: (spoken_name(name), *(backend.also_called if (backend := self._backends.get(name)) else ()))
            for name in self.names()
        }

    def models(self, name: str | None) -> Mapping[str, str]:
        """What people call the models of an installed agent → the model's id; empty where nothing is known of them."""
        backend = self._backends.get(self.name(name))
        return backend.models if backend else {}

    def name(self, said: str | None) -> str:
        """The name of the agent that somebody calls `said`, of the default for None.

        Raises `NotFound`, which names the installed ones.
        """
        wanted = " ".join((said or self.default).casefold().split())
        if wanted in self._runners:
            return wanted
        for name, backend in self._backends.items():
            if wanted in backend.also_called:
                return name
        raise NotFound(
            f'no agent "{said}"; there is {", ".join(self.names())}',
            spoken=f"I don't have that agent. I have {_listed([spoken_name(name) for name in self.names()])}.",
        )

    def get(self, name: str | None) -> AgentRunner:
        """The agent called `name`, or the default for None. Raises `NotFound`, which names the installed ones."""
        return self._runners[self.name(name)]

    def model(self, agent: str | None, said: str | None) -> str | None:
        """The id of the model that somebody calls `said`, for an agent; None stays None.

        Raises `NotFound`: no such agent, or no model of it is called that.
        """
        backend = self._backends.get(self.name(agent))
        return backend.model(said) if said and backend else said


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
