"""One run: is the checkpoint better than the untrained policy, for whom, and how sure is that."""
