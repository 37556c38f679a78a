"""evenhand: a training toolkit for fair summarizers.

The names below are the whole public face of the package; docs/notebook.ipynb shows them together. None is loaded before it is
used, so that `import evenhand` costs nothing.
"""

import sys
from importlib import import_module

# typing has it too, and would be imported for it
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import audit, compare, generate, judge, load_documents, load_recipe, open_run, pairs, rerank, run

    __version__: str

__all__ = [
    "__version__",
    "audit",
    "compare",
    "generate",
    "judge",
    "load_documents",
    "load_recipe",
    "open_run",
    "pairs",
    "rerank",
    "run",
]


def _version() -> str:
    """What pyproject.toml alone says; "unknown" in a checkout that is not installed."""
    from importlib import metadata

    try:
        return metadata.version("evenhand")
    except metadata.PackageNotFoundError:
        return "unknown"


def __getattr__(name: str) -> object:
    """A function or the version, which stays once it was asked for."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "__version__":
        return _version()
    function = getattr(import_module(".api", __name__), name)
    if name in FOLDERS:
        # for `import evenhand.generate.stage as stage`
        function.__dict__ = sys.modules[f"{__name__}.{name}"].__dict__
    globals()[name] = function
    return function


def __dir__() -> list[str]:
    # no folders and nothing that this file imports: they are no part of the face
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})


# folders that have the names of functions: Python puts a folder in its place here when it is first imported, and never again
FOLDERS = ("generate", "rerank")
for _name in FOLDERS:
    import_module(f".{_name}", __name__)
    globals().pop(_name, None)
