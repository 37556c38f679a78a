"""What people would say of all summaries, from their ratings of some: numbers beside a judge's own, and why there are none."""
