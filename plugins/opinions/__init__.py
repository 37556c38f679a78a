"""Opinions: measures of whether each gets its share, the judges and the family of the audit that use them, fair extraction."""
