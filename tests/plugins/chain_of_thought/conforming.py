"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from evenhand.plugins.chain_of_thought import method

METHODS = {"chain-of-thought": (method, {"chain_of_thought": {}})}
