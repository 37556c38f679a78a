"""Reports of a run, comparisons of several and cards of what a run made."""
