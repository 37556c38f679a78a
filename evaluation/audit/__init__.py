"""The audit: any summaries against their documents, by every measure of fairness that applies.

    read_input      documents, summaries and references, checked together
    Family          what a measure makes of one summary; what it makes of a corpus from sums over its sets
    Figures.draws   the quantities of drawn document sets: each set is measured once, its sums are resampled
    build_audit     all numbers, tests and examples as records
    write_audit     audit.json, audit.md and index.html

The table by attribute value comes first, one named aggregate after.
"""
