"""Judges studied: whether a judge measures what it is to measure, what leads it astray, and judges that combine others.

People are in `people`: the page on which they annotate summaries, and what their annotations say. A study of judges reads them.
"""
