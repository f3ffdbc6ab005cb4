"""Which Keryx this is."""


def version() -> str:
    """The installed version."""
    from importlib.metadata import version as installed

    return installed("keryx")
