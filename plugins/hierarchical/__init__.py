"""Hierarchical: a method that summarises each document first."""
