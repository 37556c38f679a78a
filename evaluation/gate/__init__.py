"""A gate: limits that a page's numbers must keep, decided by interval, so that a verdict does not change with the draw.

limits      what is asked: "worst_gap(coverage) < -0.05", from the command line or a profile
numbers     a number that a limit can name
subject     what a gate knows of a page; each room says it of its own pages, in its `named.py`
decide      breach, cannot tell, missing or passed
baseline    an earlier page, of which only the change counts
page        the table on the page, and JUnit's XML
"""
