"""People's annotations of summaries as data: marks of key points, the sheets and released files that have them, and their scores.

    sheets ------------------> files -> HumanUnit -> human_scores
    Label Studio's export ----/
    released files -----------/

Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-human.
"""
