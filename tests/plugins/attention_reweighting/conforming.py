"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

from typing import Any

Given = dict[str, Any]


def pine_positions_of(given: dict[str, Any]) -> dict[str, Any]:
    from segment_places import segment_positions

    starts, suffix = segment_positions(given["prefix_len"], given["segment_lens"], given["nearest_first"])
    return {"segment_starts": starts, "suffix_start": suffix}


def pine_order_of(given: dict[str, Any]) -> dict[str, Any]:
    from segment_places import importance_order

    importance, nearest_first = importance_order(given["token_weights"], given["own"])
    return {"importance": importance, "nearest_first": nearest_first}


OPERATIONS = {"pine_positions": pine_positions_of, "pine_order": pine_order_of}
