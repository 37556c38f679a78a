"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from audit_inputs import WORDS

from evenhand.benchmarks.calibration_tone import Plain
from evenhand.plugins.tone.family import TONE_IN_SUMMARIES, Tone

VALUES = ("alpha", "beta", "gamma")
FAMILIES = {"tone": lambda given: Tone(Plain(), WORDS.tokens, "", given.values)}
SAID = {"tone": ("spoken of", "less kindly", "more kindly", VALUES)}
MEASURED = {"tone": TONE_IN_SUMMARIES}
