"""Judges judged: how well the scores of a judge order summaries whose coverage and faithfulness are known."""
