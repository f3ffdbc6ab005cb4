"""`python -m keryx` is the `keryx` command."""

from keryx.cli.main import run

if __name__ == "__main__":
    run()
