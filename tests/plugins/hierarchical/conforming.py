"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from evenhand.plugins.hierarchical import method

METHODS = {"hierarchical": (method, {"hierarchical": {}})}
# methods whose later prompts quote summaries, without what announces them
QUOTING = {"hierarchical": True}
