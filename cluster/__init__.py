"""Runs on many machines: the steps of a recipe as jobs of a scheduler."""
