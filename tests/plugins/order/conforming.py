"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

import re

from audit_inputs import WORDS

from evenhand.plugins.order.family import PLACE_IN_SUMMARIES, Order
from evenhand.plugins.order.page import order_sentence
from evenhand.plugins.order.thirds import THIRDS

FAMILIES = {"order": lambda given: Order(WORDS)}
SAID = {"order": ("represented", "less", "more", THIRDS)}
MEASURED = {"order": PLACE_IN_SUMMARIES}


def thirds_that_are_followed(audit, texts):
    """Hold the sentence on what gaps follow to the numbers; what it says of places and documents."""
    (sentence,) = (each for each in texts if each.startswith(order_sentence(audit.orders, "place")))
    by_place, _, by_documents = sentence.partition(". ")
    for follows, said in (("place", by_place), ("documents", by_documents)):
        clear = {e.side: e for e in audit.orders if e.measure == follows and e.is_clear}
        none = "no third" in said
        assert none == (not clear), sentence
        told = set() if none else {third for third in THIRDS if re.search(rf"\b{third}\b", said)}
        assert told == set(clear)
        # the headline has the third that loses most by its place
        if follows == "place" and clear:
            first = min(clear.values(), key=lambda effect: (effect.verdict != "lower", -abs(effect.value)))
            assert audit.title.startswith(f"The {first.side} of a set has {100 * abs(first.value):.1f} points")
        for third, effect in clear.items():
            size = f"{100 * abs(effect.value):.1f} points {'less' if effect.verdict == 'lower' else 'more'}"
            assert re.search(rf"{third}\b[^,]*? {re.escape(size)}", said), (third, size, said)
        yield follows, bool(clear)


ARRANGED = {"order": thirds_that_are_followed}
