"""Demographic bias: inputs with known persons, the measures of names and word lists, and the bias study."""
