"""One page for every family: what it holds is a list of blocks, which HTML, Markdown and the terminal each write in their way.

blocks      what a page is made of: heading, prose, table with typed cells, chart, folded details
html        one self-contained file
markdown    the same for pull requests and notes
terminal    its headline and main table
write       index.html, the Markdown and a CSV file for every table
folder      the folder of a result: whose it is, and what is replaced
numbers     how numbers are written: few digits, intervals, per cent
words       phrases that several families use
charts      axes, line charts, and planes of two judges at once
"""
