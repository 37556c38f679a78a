"""Position-invariant attention over passages: their order in the prompt changes nothing of what follows them.

Source: Wang et al. 2024, "Eliminating position bias of language models" (PINE, arXiv:2407.01100);
docs/papers.md#ri-pine.
"""
