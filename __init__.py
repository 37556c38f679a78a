"""evenhand: a training toolkit for fair summarizers. Nothing is imported before it is asked for."""


def __getattr__(name: str) -> str:
    """`__version__`, which pyproject.toml alone says; "unknown" in a checkout that is not installed."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("evenhand")
    except PackageNotFoundError:
        return "unknown"
