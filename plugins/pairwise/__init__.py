"""Pairwise: a judge that compares the candidates of a request two by two and gives each its Bradley-Terry strength."""
