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
    r"|\.local/share/(?:keyrings|keryx|opencode/auth\.json)|Library/(?:Keychains|Application Support/keryx)"
    # Keryx's own, wherever KERYX_HOME or XDG_DATA_HOME has put them.
    r"|secrets\.toml|page\.key|\$KERYX_AGENT_OF|\.?keryx/google|google/(?:sign-in|client)\.json"
    r"|etc/(?:g?shadow|sudoers)|proc/[^/]+/(?:environ|mem))(?:/|$)"
)
"""Places of credentials: outside the task's directory, even looking at them is asked about."""

SETTING_FILES = re.compile(
    r"\.(?:claude(?:/(?:settings[^/]*\.json|hooks(?:/.*)?))?|mcp\.json|codex(?:/.*)?|opencode(?:/.*)?)$|opencode\.jsonc?$"
    r"|(?:.*/)?\.git/(?:.*/)?(?:hooks(?:/.*)?|config(?:\.worktree)?)$",
    re.IGNORECASE | re.DOTALL,
)
"""From the task's directory on: what tells an agent, or git, what it may run unasked, in later tasks too."""

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
