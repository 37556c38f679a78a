"""The commands that study judges."""
