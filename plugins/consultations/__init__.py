"""Consultations: statements that people made and voted on, imported with the votes, and approval by opinion group from these."""
