"""What a program does by its first words: "git push", "pip install". Data, like `table`."""

from keryx.agents.approver import Effect

READ, CHANGE, RUN, PACKAGES = Effect.READ, Effect.CHANGE, Effect.RUN, Effect.PACKAGES
NETWORK, PUSH, SEND, OUTSIDE, UNKNOWN = Effect.NETWORK, Effect.PUSH, Effect.SEND, Effect.OUTSIDE, Effect.UNKNOWN

_SUBCOMMANDS: dict[str, dict[Effect, str]] = {
    "git": {
        READ: """annotate, blame, branch --list, bugreport, cat-file, check-attr, check-ignore, cherry, config get,
        config list, count-objects, describe, diff, diff-files, diff-index, diff-tree, for-each-ref, fsck, grep, help,
        log, ls-files, ls-tree, merge-base, merge-tree, name-rev, notes list, notes show, range-diff, reflog,
        remote get-url, remote show, rev-list, rev-parse, shortlog, show, show-branch, show-ref, stash list, stash show,
        status, submodule status, var, verify-commit, verify-tag, version, whatchanged, worktree list""",
        CHANGE: """add, am, apply, archive, branch, bundle, checkout, checkout-index, cherry-pick, clean, commit,
        commit-tree, config, format-patch, gc, hash-object, init, maintenance, merge, mktree, mv, notes, pack-refs,
        prune, read-tree, rebase, reflog delete, reflog expire, remote, repack, replace, rerere, reset, restore, revert,
        rm, sparse-checkout, stash, submodule, switch, symbolic-ref, tag, update-index, update-ref, worktree,
        write-tree""",
        RUN: "bisect, difftool, mergetool, submodule foreach",
        NETWORK: """clone, fetch, ls-remote, pull, remote update, remote prune, submodule add, submodule update,
        lfs fetch, lfs pull, fetch-pack""",
        PUSH: "push, send-pack, lfs push, subtree push, svn dcommit, p4 submit",
        SEND: "send-email, imap-send, request-pull",
        OUTSIDE: "credential, credential-store, credential-cache, daemon",
    },
    "gh": {
        NETWORK: """api, browse, cache list, gist list, gist view, issue list, issue status, issue view, label list,
        pr checkout, pr checks, pr diff, pr list, pr status, pr view, release download, release list, release view,
        repo clone, repo list, repo view, run download, run list, run view, run watch, search, status, workflow list,
        workflow view""",
        PUSH: """gist create, gist edit, pr create, pr edit, pr merge, pr ready, pr update-branch, release, repo, run,
        secret, variable, workflow""",
        SEND: "issue, pr, label, discussion",
        OUTSIDE: "auth, ssh-key, gpg-key, config, extension",
    },
    "glab": {
        NETWORK: "issue list, issue view, mr list, mr view, mr diff, mr checkout, repo clone, ci status, ci view",
        PUSH: "mr create, mr merge, release, repo, ci",
        SEND: "issue, mr",
        OUTSIDE: "auth, config",
    },
    "docker": {
        READ: "images, inspect, logs, ps, stats, top, version, info, history, compose ps, compose logs, compose config",
        NETWORK: "pull, search, compose pull",
        PUSH: "push, compose push, buildx imagetools, image push, manifest push",
    },
    "pip": {
        READ: "list, show, freeze, check, inspect, debug, hash, cache, config list, config get",
        PACKAGES: "install, download, wheel, sync, compile",
        CHANGE: "uninstall",
        NETWORK: "search, index",
        OUTSIDE: "config",
    },
    "uv": {
        READ: "pip list, pip show, pip freeze, pip check, pip tree, tree, version, python list, python find, cache dir",
        PACKAGES: "add, remove, sync, lock, pip, export, build, venv, init",
        PUSH: "publish",
        OUTSIDE: "tool install, tool upgrade, tool uninstall, python install, python uninstall, self, auth, cache",
    },
    "poetry": {
        READ: "show, check, env list, env info, version, about",
        PACKAGES: "install, add, remove, update, lock, sync, self",
        PUSH: "publish",
        OUTSIDE: "config",
    },
    "pdm": {PACKAGES: "install, add, remove, update, lock, sync", PUSH: "publish", READ: "list, show, info"},
    "pipenv": {PACKAGES: "install, sync, update, lock, uninstall, upgrade", READ: "graph, check"},
    "hatch": {PUSH: "publish", READ: "status, project, env show, version"},
    "flit": {PUSH: "publish", PACKAGES: "install"},
    "pipx": {OUTSIDE: "install, upgrade, uninstall, inject, upgrade-all, reinstall", READ: "list"},
    "conda": {READ: "list, info, search", PACKAGES: "install, create, update, remove, env", OUTSIDE: "init, config"},
    "npm": {
        READ: "ls, list, ll, explain, why, outdated, root, prefix, bin, config get, config list, pkg get, help, query",
        PACKAGES: "install, i, in, add, ci, clean-install, update, up, upgrade, uninstall, remove, rm, dedupe, "
        "install-test, it, rebuild, prune, audit, fund, link, init, create",
        CHANGE: "pkg, version, pack, shrinkwrap",
        NETWORK: "view, info, show, v, search, ping, whoami, org, team, profile, token, doctor",
        PUSH: "publish, unpublish, deprecate, dist-tag, access, owner, stage",
        OUTSIDE: "login, logout, adduser, config, set, cache",
    },
    "yarn": {
        READ: "list, why, versions, workspaces list",
        PACKAGES: "add, install, remove, up, upgrade, dedupe, import, init, create, set version, plugin",
        NETWORK: "info, npm info, npm audit, audit, outdated",
        PUSH: "publish, npm publish, npm tag, tag, owner",
        OUTSIDE: "global, login, logout, npm login, config, cache",
    },
    "cargo": {
        READ: "tree, metadata, locate-project, version, help, pkgid, read-manifest, verify-project",
        PACKAGES: "add, remove, fetch, update, generate-lockfile, vendor",
        CHANGE: "new, init, clean, fmt",
        NETWORK: "search, info",
        PUSH: "publish, yank, owner, release",
        OUTSIDE: "install, uninstall, login, logout",
    },
    "go": {
        READ: "env, list, version, doc, help, vet",
        PACKAGES: "get, mod download, mod tidy, mod vendor, mod verify, mod why, mod graph, work sync",
        CHANGE: "fmt, mod, work, clean, fix",
        OUTSIDE: "install, env -w",
    },
    "gem": {
        READ: "list, info, which, environment, contents, specification, help, dependency",
        PACKAGES: "install, update, uninstall, fetch",
        NETWORK: "search",
        PUSH: "push, yank, owner",
        OUTSIDE: "signin, signout, sources",
    },
    "bundle": {
        READ: "list, show, info, outdated, check, platform, config get, config list, env",
        PACKAGES: "install, update, add, remove, lock, package, cache",
        PUSH: "release",
        OUTSIDE: "config",
    },
    "composer": {
        READ: "show, validate, licenses, check-platform-reqs, depends, prohibits",
        PACKAGES: "install, update, require, remove, create-project, dump-autoload",
        OUTSIDE: "global, config, self-update",
    },
    "dotnet": {PACKAGES: "restore, add, remove", PUSH: "nuget push, nuget delete", OUTSIDE: "tool, workload"},
    "swift": {PACKAGES: "package"},
    "mix": {PACKAGES: "deps.get, deps.update, local.hex", PUSH: "hex.publish"},
    "nix": {OUTSIDE: "profile, store, upgrade-nix", READ: "eval, flake show"},
    "gpg": {READ: "--verify, --list-keys", OUTSIDE: ""},
    "claude": {OUTSIDE: "mcp, config, update, install, setup-token"},
    "codex": {OUTSIDE: "login, logout, mcp"},
}
ALIASES = {
    "bun": "npm",
    "bunx": "npx",
    "docker-compose": "docker",
    "mamba": "conda",
    "micromamba": "conda",
    "nerdctl": "docker",
    "pnpm": "npm",
    "podman": "docker",
    "uvx": "npx",
    "pnpx": "npx",
}
"""Programs that are judged like another one."""

SUBCOMMANDS: dict[tuple[str, ...], Effect] = {
    (program, *words.split()): effect
    for program, effects in _SUBCOMMANDS.items()
    for effect, listed in effects.items()
    for words in listed.split(",")
    if words.strip()
}
OTHERWISE: dict[str, Effect] = {
    **dict.fromkeys(_SUBCOMMANDS, RUN),
    # An unknown subcommand of these is somebody's own short name for another, or reaches out.
    "docker": OUTSIDE,  # a container engine runs as root: no sandbox of the agent's holds it
    "gh": UNKNOWN,
    "git": UNKNOWN,
    "glab": UNKNOWN,
    "gpg": OUTSIDE,
}
"""What a program with subcommands does with one that is not listed."""
BARE: dict[str, Effect] = {"bundle": PACKAGES, "composer": READ, "yarn": PACKAGES}
"""What a program with subcommands does without any, where it does something."""

VALUED: dict[str, frozenset[str]] = {
    program: frozenset(options.split())
    for program, options in {
        "git": "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
        "gh": "-R --repo --hostname",
        "glab": "-R --repo",
        "docker": "-H --host --context -c --config -l --log-level -f --file -p --project-name --profile --env-file",
        "pip": "--python --proxy --log --cache-dir --timeout --retries --cert --client-cert --exists-action",
        "uv": "--directory --project --config-file --cache-dir --color --python -p --index-url --default-index --index",
        "poetry": "-C --directory -P --project",
        "npm": "--prefix -C --dir -w --workspace --filter -F --registry --userconfig --cache --loglevel",
        "yarn": "--cwd --registry",
        "cargo": "--color --config -C -Z --manifest-path",
        "go": "-C",
        "bundle": "--gemfile",
        "composer": "-d --working-dir",
        "make": "-C -f -I -o -W --directory --file --makefile",
    }.items()
}
"""Options that take the next word as their value, where they may stand before a subcommand."""
