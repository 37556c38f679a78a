"""People's judgements of summaries: which key points they saw in documents and summaries, and which of them match.

    systems -> page -> sheets ------> HumanUnit -> human_scores -> human_results, with intervals
    Label Studio's export ----/  /               -> agreement of two annotators or more, beside that of random highlights
    released files -------------/

Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-human.
"""
