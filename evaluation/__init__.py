"""Comparing checkpoints, and the report."""
