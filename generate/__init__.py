"""Candidates: prompts, backends, sampling plans, the output contract."""
