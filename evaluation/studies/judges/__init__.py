"""Judges audited: whether a judge measures what it is to measure, and what leads it astray."""
