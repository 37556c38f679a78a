"""Extract-then-evaluate: a judge that grades a summary against those sentences of a long text that matter for it."""
