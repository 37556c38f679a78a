"""PerspectiveSumm (Zhang et al. 2024, arXiv:2311.07884): its released sets, and its construction from raw data.

    read_perspectivesumm                the released JSON of all six sources
    build_tweets, read_tweets           Claritin and US Election: sets of chosen sizes and ratios out of labelled tweets
    read_reviews                        Amazon and Yelp: a file of reviews a product
    read_debates, read_court, segments  IQ2 debates and the Supreme Court: turns of speakers, cut into segments

Every set carries the declared values of its attributes in notes["values"] and the separator of their texts in
notes["separator"]: the documents of a value, joined by it, are the text that the measures of that paper read. Summaries of
these sets, predictions in their order, are read by `corpora.summaries`.

Source: Zhang et al. 2024, section 4; docs/papers.md#zhang-data.
"""

from .released import count_empty, read_perspectivesumm, released_sets

__all__ = ["count_empty", "read_perspectivesumm", "released_sets"]
