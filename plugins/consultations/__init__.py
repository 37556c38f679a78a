"""Consultations: statements and votes, imported, and from these approval by opinion group, and who is missing from summaries."""
