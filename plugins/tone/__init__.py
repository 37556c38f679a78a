"""Tone: whether summaries speak of each value as positively as its documents do."""
