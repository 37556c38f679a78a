"""evenhand: a training toolkit for fair summarizers.

The names below are the whole public face of the package; docs/notebook.ipynb shows them together. None is loaded before it is
used, so that `import evenhand` costs nothing.
"""

import sys
from types import ModuleType

# typing has it too, and would be imported for it
TYPE_CHECKING = False
if TYPE_CHECKING:
    from .api import audit, compare, generate, judge, load_documents, load_recipe, pairs, rerank, run

    __version__: str

__all__ = [
    "__version__",
    "audit",
    "compare",
    "generate",
    "judge",
    "load_documents",
    "load_recipe",
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


class _Face(ModuleType):
    """The package, whose functions come when they are asked for and stay.

    Two of them have the names of subpackages. Python sets a subpackage as attribute of its parent when it is first imported, from
    wherever, and would put it in the function's place; `import evenhand.generate.stage as stage` then goes on from the attribute.
    So the function stays, and it has the subpackage's modules as attributes of its own.
    """

    def __getattr__(self, name: str) -> object:
        if name not in __all__:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name == "__version__":
            return _version()
        from importlib import import_module

        found = getattr(import_module(".api", self.__name__), name)
        if subpackage := sys.modules.get(f"{self.__name__}.{name}"):
            found.__dict__ = subpackage.__dict__
        self.__dict__[name] = found
        return found

    def __setattr__(self, name: str, value: object) -> None:
        if name not in __all__ or not isinstance(value, ModuleType):
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        # no subpackages and nothing that this file imports: they are no part of the face
        return sorted({*__all__, *(name for name in super().__dir__() if name.startswith("__"))})


sys.modules[__name__].__class__ = _Face
