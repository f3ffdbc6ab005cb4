"""Which command does what: the data that `effects` reads. A name that stands nowhere here runs as `Effect.RUN`.

Programs stand without their folder and version, in small letters.
"""

import re

from keryx.agents.approver import Effect

READ, CHANGE, RUN, PACKAGES = Effect.READ, Effect.CHANGE, Effect.RUN, Effect.PACKAGES
NETWORK, PUSH, SEND, OUTSIDE, UNKNOWN = Effect.NETWORK, Effect.PUSH, Effect.SEND, Effect.OUTSIDE, Effect.UNKNOWN


def _each(effect: Effect, names: str) -> dict[str, Effect]:
    return dict.fromkeys(names.split(), effect)


PROGRAMS: dict[str, Effect] = {
    # Look at things, or do nothing at all. Where an option makes them write, `programs` has a rule as well.
    **_each(
        READ,
        """: [ ]] ack ag arch awk base64 basename bat batcat bind break builtin cal cat cd cksum cloc cmp column
        comm compgen complete continue cut date declare df diff dir dircolors dirname dirs du echo egrep exa exit
        expand export expr eza false fd fdfind fgrep file find fmt fold for free gawk getconf getent getopt
        getopts grep groups hash head hexdump history hostname iconv id jobs join jq less let local locale ls
        lsb_release lsblk lscpu lsof man mapfile mawk md5 md5sum more nl nm nproc numfmt objdump od paste pathchk
        pgrep popd pr printenv printf ps pstree pushd pwd read readarray readelf readlink readonly realpath
        return rev rg ripgrep scc sed select seq set sha1sum sha256sum sha512sum shasum shift shopt size sleep
        sort ss stat strings sum sync tac tail test tokei top tr tree true tsort tty type typeset ulimit umask
        uname unexpand uniq unset uptime vmstat wait wc whatis whereis which who whoami xxd yes yq zcat zgrep
        zless""",
    ),
    **_each(
        NETWORK,
        """aria2c axel curl dig drill ftp gsutil host http httpie https lftp links lynx mosh mtr nc ncat netcat nmap
        nslookup ping ping6 rclone rsync s3cmd scp sftp smbclient socat ssh sshfs tailscale telnet tftp tracepath
        traceroute w3m websocat wget wget2 whois wscat xh yt-dlp""",
    ),
    **_each(
        PUSH,
        """ansible ansible-playbook aws az cdk doctl eb firebase fly flyctl gcloud goreleaser helm heroku kubectl
        netlify now pulumi railway semantic-release serverless sls surge terraform tofu twine vercel vsce
        wrangler""",
    ),
    **_each(
        SEND,
        """aerc himalaya mail mailx msmtp mutt neomutt osascript s-nail sendmail signal-cli slack ssmtp swaks
        telegram-cli telegram-send wall write xdg-email""",
    ),
    **_each(
        OUTSIDE,
        """apk apt apt-get aptitude at batch brew chgrp chpasswd chroot chsh crontab debootstrap defaults dmesg dnf
        doas dpkg fdisk firewall-cmd flatpak gpasswd groupadd groupdel gsettings halt hostnamectl ifconfig init
        insmod ip6tables iptables keryx killall launchctl loginctl losetup mkfs modprobe mount nft nix-env open
        pacman parted pass passwd pkexec pkill port poweroff reboot rmmod runuser secret-tool security service
        shutdown snap ssh-add ssh-copy-id ssh-keygen su sudo swapoff swapon sysctl systemctl systemd-run telinit
        timedatectl ufw umount update-alternatives useradd userdel usermod visudo wsl xdg-open yum zypper""",
    ),
    **_each(UNKNOWN, "alias busybox coproc expect parallel screen script tmux toybox"),
}

ALL_PATHS, LAST_PATH = "all", "last"
WRITES: dict[str, str] = {
    **dict.fromkeys(
        """bunzip2 bzip2 chmod chown gunzip gzip ln mkdir mkfifo mv rename rm rmdir setfacl shred split tee touch
        trash truncate unlink unxz unzstd xz zip zstd""".split(),
        ALL_PATHS,
    ),
    **dict.fromkeys("cp ditto install".split(), LAST_PATH),
}
"""Programs that write, by which of their paths they write to. Moving takes away and a link leads away: all count."""

WRAPPERS: dict[str, tuple[str, int]] = {
    "builtin": ("", 0),
    "caffeinate": ("", 0),
    "chronic": ("", 0),
    "command": ("", 0),
    "doas": ("-u -C", 0),
    "env": ("-u --unset -C --chdir -S --split-string", 0),
    "exec": ("-a", 0),
    "faketime": ("", 1),
    "flock": ("-w --timeout -E", 1),
    "ionice": ("-c -n --class --classdata", 0),
    "ltrace": ("-e -o", 0),
    "nice": ("-n --adjustment", 0),
    "nocorrect": ("", 0),
    "noglob": ("", 0),
    "nohup": ("", 0),
    "runuser": ("-u -g -G", 0),
    "setsid": ("", 0),
    "stdbuf": ("-i -o -e", 0),
    "strace": ("-e -o -p -s", 0),
    "sudo": ("-u -g -C -D -h -p -r -t -T -U --user --group --chdir", 0),
    "time": ("-f -o --format --output", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "unbuffer": ("", 0),
    "watch": ("-n --interval", 0),
    "xargs": ("-I -L -n -P -s -d -E -a --max-args --max-procs --delimiter --arg-file --replace", 0),
    "xvfb-run": ("-n -s -e -f -p --server-args --server-num", 0),
}
"""Programs that run another: which of their options take a value, and how many words of their own come before it."""

SHELLS = frozenset("ash bash dash fish ksh mksh rbash sh zsh".split())
INTERPRETERS = frozenset("deno lua node perl php python pypy ruby".split())

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

MOVES: dict[str, tuple[str, ...]] = {
    "env": ("-C", "--chdir"),
    "git": ("-C", "--git-dir", "--work-tree"),
    "go": ("-C",),
    "make": ("-C", "--directory"),
    "npm": ("--prefix", "-C", "--dir"),
    "sudo": ("-D", "--chdir"),
    "tar": ("-C", "--directory"),
    "uv": ("--directory", "--project"),
    "yarn": ("--cwd",),
}
"""Options that name the directory a program works in."""

RUNNERS: dict[str, tuple[tuple[str, ...], Effect]] = {
    program: (tuple(words.split(",")), effect)
    for program, words, effect in (
        ("bundle", "exec", RUN),
        ("conda", "run", RUN),
        ("dotenv", "run", RUN),
        ("hatch", "run", PACKAGES),
        ("npm", "exec,x,dlx", PACKAGES),
        ("pdm", "run", RUN),
        ("pipenv", "run", RUN),
        ("pipx", "run", PACKAGES),
        ("poetry", "run", RUN),
        ("rye", "run", PACKAGES),
        ("uv", "run,tool run", PACKAGES),
        ("yarn", "dlx,exec", PACKAGES),
        ("npx", "", PACKAGES),
        ("git", "submodule foreach,bisect run", RUN),
    )
}
"""Programs that run the rest of their line, by the subcommand that does, and what they do on the way to it."""
RUNNER_VALUED = frozenset(
    "--with --from --python -p --package --extra --group --env-file --directory --spec -n".split()
)

TASK_RUNNERS = frozenset(
    """ant bake composer deno fastlane gradle gradlew grunt gulp hatch invoke just lerna make gmake mage mix moon mvn
    mvnw ninja npm nox nx pdm poe rake sbt task tox turbo yarn""".split()
)
PUBLISHES = re.compile(r"(?:^|[:_.\-/])(?:deploy|publish|release|upload|ship)(?:$|[:_.\-/])|^(?:deploy|publish)", re.I)
"""A task so named puts something out."""

OTHER_SOURCE = re.compile(
    r"--(?:index|index-url|default-index|extra-index-url|find-links|trusted-host|proxy|registry|source|repository"
    r"|repository-url|git|clear-sources|channel-url|https?-proxy|userconfig|config-file)(?:=|$)"
)
REMOTE_PACKAGE = re.compile(
    r"(?:^|@ ?|\b)(?:git|hg|svn|bzr|https?|ssh|ftp|github|gitlab|bitbucket|gist)(?:\+\w+)?:|^git@"
)
"""A package that comes from somewhere else than its index."""
MACHINE_WIDE = re.compile(r"-g$|--(?:global|location=global|user|system|break-system-packages|user-install)(?:=|$)")
"""An installation for the whole machine or person."""
SOURCE_VARIABLE = re.compile(r"INDEX|REGISTRY|PROXY|FIND_LINKS|MIRROR|SOURCES?$|CONFIG_FILE", re.IGNORECASE)
RUNNING_VARIABLE = re.compile(
    r"PATH$|^LD_|^DYLD_|^GIT_|PAGER$|EDITOR$|VISUAL$|^(?:BASH_)?ENV$|^PYTHON|^NODE_|^PERL|^RUBY|^LESS|^RIPGREP|BROWSER$"
)
"""Variables that make a harmless program run something."""

CREDENTIALS = re.compile(
    r"(?:^|/)(?:\.ssh|\.gnupg|\.aws|\.azure|\.kube|\.netrc|\.git-credentials|\.npmrc|\.pypirc|\.docker/config\.json"
    r"|\.config/(?:gh|gcloud|keryx|hub|op|rclone)|\.claude(?:\.json|/\.credentials\.json)|\.codex/auth\.json"
    r"|\.password-store|\.mozilla|\.vault-token|\.cargo/credentials(?:\.toml)?|\.gem/credentials|\.terraform\.d"
    r"|\.local/share/(?:keyrings|keryx|opencode/auth\.json)|Library/Keychains|secrets\.toml"
    r"|etc/(?:g?shadow|sudoers)|proc/[^/]+/(?:environ|mem))(?:/|$)"
)
"""Places of credentials: outside the task's directory, even looking at them is asked about."""

SINKS = re.compile(r"/dev/(?:null|stdin|stdout|stderr|tty|zero|full|u?random|fd/\d+)$")
SCRATCH = ("/tmp", "/var/tmp", "/private/tmp")
"""Below these an agent's tests may write, unless the task's own directory lies there too."""
LOOPBACK = re.compile(
    r"(?:https?://)?(?:localhost|127(?:\.\d{1,3}){3}|\[::1\]|0\.0\.0\.0)(?::(?:\d{1,5}|\$\w+))?(?:[/?#]|$)",
    re.IGNORECASE,
)
OUTPUT_OPTION = re.compile(
    r"--?(?:o|out|output|outfile|out-?dir|output-dir|output-file|dest|destination|install-dir|target-directory)(?:=(.*))?$",
    re.DOTALL,
)
"""Options that name where something is written, whatever the program."""
