"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from typing import Any

import numpy as np

from evenhand.plugins.fairpo.triples import CANDIDATES, choose_thinnings, fair_pairs, thinnings

Given = dict[str, Any]


def perturb_of(given: Given) -> Given:
    labels, differences = given["labels"], given["value_minus_overall"]
    drawn = thinnings(labels, len(differences), np.random.default_rng(0), rate=given["rate"])
    chosen = choose_thinnings(labels, differences, [each.value for each in drawn], rate=given["rate"])
    assert chosen
    over, under = (drawn[place] for place in chosen)
    return {
        "n_removed": len(labels) - len(over.documents),
        "minus_over": {"value": over.value, "counts_after": over.counts(labels, len(differences))},
        "minus_under": {"value": under.value, "counts_after": under.counts(labels, len(differences))},
        "same_value": over.value == under.value,
        "sets_differ": set(over.documents) != set(under.documents),
    }


def pairs_of(given: Given) -> Given:
    candidates = [[pair["candidates"][name] for name in CANDIDATES] for pair in given["pairs"]]
    found = fair_pairs(
        [[c["ec"] for c in each] for each in candidates],
        [[c["value_minus_overall"] for c in each] for each in candidates],
        [pair["value_count"] for pair in given["pairs"]],
    )
    result = {}
    for row, place in enumerate(found.sets):
        record: Given = {"margin_weight": float(found.margin_weight[row])}
        sides = (("chosen", found.chosen, found.chosen_slots), ("rejected", found.rejected, found.rejected_slots))
        for side, candidate, slots in sides:
            record |= {
                side: CANDIDATES[candidate[row]],
                f"cat_{side}": slots.flags[row].astype(float).tolist(),
                f"weight_{side}": slots.weight[row].tolist(),
                f"num_{side}": found.counts[row].tolist(),
                f"pow_{side}": slots.power[row].tolist(),
            }
        result[given["pairs"][place]["id"]] = record
    return result


GROUP_OPERATIONS = {"fairpo_perturb": perturb_of, "fairpo_pairs": pairs_of}
