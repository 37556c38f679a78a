"""Numbers: a judge that finds numbers in a summary which its documents do not have."""
