"""A shell line for the ear: what it would do, in a few words that can be said."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keryx.agents.effects import spoken_command
from keryx.agents.effects.spoken import MAX_CHARS

INSIDE = Path("/work-that-is-not-there/project")

SAID = {
    "git push": "push the commits",
    "git push origin": "push to origin",
    "git push -u origin fix-invoice": "push the branch fix invoice to origin",
    "git push --force origin main": "force-push the branch main to origin",
    "git push origin --delete old": "delete the branch old on origin",
    "git push --tags origin": "push the tags to origin",
    "git push https://example.com/x main": "push the branch main to another repository",
    "git push $REMOTE": "push to another repository",
    "git -C sub push origin HEAD": "push to origin",
    "git commit -m 'x y'": "commit the changes",
    "git pull": "pull from the remote repository",
    "git nobody-knows": "run git nobody knows",
    "gh pr create --fill": "open a pull request",
    "gh issue comment 3 -b hi": "comment on an issue",
    "gh release create v1": "publish a release on GitHub",
    "pytest -q tests/test_a.py": "run the tests with pytest",
    "cd sub && .venv/bin/python -m pytest": "run the tests with pytest",
    "uv run pytest -q": "run the tests with pytest",
    "npx playwright test": "run the tests with playwright",
    "npm test": "run the tests with npm",
    "npm run build": "run the script build with npm",
    "make test": "run make test",
    "rm -rf build": "delete the folder build",
    "rm old_notes.txt": "delete the file old notes dot txt",
    "rm a b c": "delete 3 files or folders",
    "rm *.pyc": "delete some files",
    "rm -rf /opt/thing": "delete the folder thing outside the project",
    "rm -rf ~": "delete your home folder",
    "rm -rf /": "delete the whole disk",
    'rm -rf "$X"': "delete something that only shows when it runs",
    "find . -name '*.pyc' -delete": "delete the files it finds",
    "ls | xargs rm": "delete something that only shows when it runs",
    "echo hi > notes.md": "write the file notes dot md",
    "echo hi > /etc/hosts": "write the file hosts outside the project",
    f"touch {INSIDE}/a.txt": "make the file a dot txt",
    "mkdir -p src/new": "make the folder new",
    "pip install requests==2.31": "install requests with pip",
    "pip install -r requirements.txt": "install packages with pip",
    "npm install": "install packages with npm",
    "npm install a b": "install packages with npm",
    "sudo apt-get install -y jq": "install jq with apt get as root",
    "sudo ls": "run ls as root",
    "sudo": "become root",
    "curl https://api.example.com/v1?x=y": "reach api dot example dot com with curl",
    "curl -d @x https://example.com": "send data to example dot com",
    "curl $URL": "reach another machine with curl",
    "ssh me@example.com ls": "reach example dot com with ssh",
    "npm publish": "publish a package with npm",
    "twine upload dist/*": "publish a package with twine",
    "docker run -it x": "run a container with docker",
    "kubectl apply -f x": "run kubectl apply",
    "python -c 'import os'": "run a piece of Python",
    "python tools/fix_all.py": "run the Python script fix all dot py",
    "bash tools/run.sh": "run the script run dot sh",
    "kill 123": "stop other processes",
    "echo hi | mail -s x me@example.com": "send a mail",
    "/usr/local/bin/strange_tool --flag": "run strange tool",
    "timeout 5 env A=1 git push": "push the commits",
    "sh -c 'git push origin'": "push to origin",
    "git add -A && git commit -m x && git push origin": "push to origin",
    "git push origin && curl https://example.com": "push to origin, and more",
    "$CMD x": "run a command that only shows when it runs",
    "curl https://example.com | sh": "run a script that only shows when it runs, and more",
    "echo 'not closed": "run a command that I can't read",
    "": "do nothing",
}


@pytest.mark.parametrize("line", SAID)
def test_a_line_is_said_by_the_worst_that_it_does(line: str) -> None:
    assert spoken_command(line, INSIDE) == SAID[line]


@pytest.mark.parametrize("line", SAID)
def test_what_is_said_has_no_path_option_or_symbol(line: str) -> None:
    assert re.fullmatch(r"[\w ,'-]+", spoken_command(line))
    assert not re.search(r"(?:^| )-|\d{5}", spoken_command(line))


def test_without_the_tasks_directory_an_absolute_path_counts_as_outside() -> None:
    assert spoken_command(f"rm {INSIDE}/a") == "delete the file a outside the project"
    assert spoken_command("rm a") == "delete the file a"


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(
        ["", "git push ", "rm -r ", "curl ", "sudo ", "pip install ", "npx ", "find ", "bash ", "git push a "]
    ),
    st.text(max_size=120),
)
def test_any_line_is_said_shortly_and_without_symbols(start: str, text: str) -> None:
    said = spoken_command(start + text, INSIDE)
    assert 0 < len(said) <= MAX_CHARS
    assert re.fullmatch(r"[\w ,'…-]+", said)


@pytest.mark.parametrize(
    "line", ["a" * 1_000_000, "npx " * 4000, "sudo " * 4000, "git push " + "a" * 50_000, "rm " + "b " * 4000]
)
def test_a_huge_line_is_said_shortly_too(line: str) -> None:
    assert 0 < len(spoken_command(line, INSIDE)) <= MAX_CHARS
