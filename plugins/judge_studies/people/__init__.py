"""People's judgements of summaries: which key points they saw in documents and summaries, and which of them match.

    systems -> page -> sheets -> HumanUnit (`annotations`) -> human_results, with intervals
                                                           -> agreement of two annotators or more, beside random highlights

Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-human.
"""
