"""Shuffled documents: a method that merges a summary of each rotation of a side's documents."""
