"""Order: whether the place of a document in its set says how much of the summary is about it, and summaries of other orders."""
