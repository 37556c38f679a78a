"""Consultations: importers of statements that people made and voted on, with the votes beside them."""
