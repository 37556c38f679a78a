"""Fairness between the attribute values of a document set: who is in the summary, and how much.

Two families of measures, both "table by value first, one number after":

Value distributions (Zhang et al. 2024, arXiv:2311.07884): each value's share in the summary against its share in the sources.

    masses        what each value has, from counts of matched words or from a model's scores, which the caller brings
    shares        shares of one or many samples; unfair, unfair_error_rate; areas over tolerances and over cut-offs

Coverage (Li et al. 2025, arXiv:2412.08795): how much of each document is in the summary's units, value against value.

    units         what a classifier is asked about
    evidence      Equal Coverage of each set from a classifier's probabilities, by `entailment`
    coverage      the same for many sets as arrays
    bounds        how low or high the measures can get

`fairpo` trains with these measures. `preparation` is how the papers' sets were made. Modes `paper` and `released` reproduce
what was printed and what the published code does; the default departs from both only where they are unsound. Everything is a
fraction, lower is fairer. Undefined is None (nan inside arrays) and counted, never 0.

    shares = compare(source, target)          # masses, (samples, values)
    unfair(shares).mean(), unfair_error_rate(shares).mean()          # BUR, UER

`evenhand.audit` reads texts, and measures a corpus: rows by value, BUR, UER, AUC and SOF, Coverage Parity, and what was left out.
"""
