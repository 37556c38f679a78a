"""Fairness measures: arrays in, numbers out; no model is imported here."""
