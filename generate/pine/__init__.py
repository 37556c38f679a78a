"""Position-invariant attention over passages: their order in the prompt changes nothing of what follows them.

Source: Wang et al. 2024, "Eliminating position bias of language models" (PINE, arXiv:2407.01100), as restated in section 8.4 of
the seed paper's specification.
"""
