"""Judges studied: whether a judge measures what it is to measure, what leads it astray, and judges that combine others."""
