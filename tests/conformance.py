"""What plug-ins bring to tests that hold every thing of a kind to one rule.

Such a test lists the core's things and adds what `tests/plugins/NAME/conforming.py` of each plug-in has under the same name:
so it names no plug-in, and one that is deleted is held to nothing.
"""

from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

PLUGINS = Path(__file__).parent / "plugins"


@cache
def _modules() -> tuple[ModuleType, ...]:
    return tuple(map(_module, sorted(PLUGINS.rglob("conforming.py"))))


def _module(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"conforming_{path.parent.name}", path)
    assert spec and spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_plugins(name: str) -> dict[str, Any]:
    """What the plug-ins have under that name, all together."""
    return {key: value for module in _modules() for key, value in getattr(module, name, {}).items()}
