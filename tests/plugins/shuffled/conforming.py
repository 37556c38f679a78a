"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from evenhand.plugins.shuffled import method

METHODS = {"shuffled": (method, {"shuffled": {"rotations": 2}})}
