"""One page for every family: what it holds is a list of blocks, which HTML, Markdown and the terminal each write in their way.

blocks      what a page is made of: heading, prose, table, chart, folded details
cells       typed cells, and the tables that they stand in
tables      makers of tables and of their cells
picture     what the picture of a first page is made of
svg         draws it
html        one self-contained file
markdown    the same for pull requests and notes
terminal    its headline and main table
write       index.html, the Markdown and a CSV file for every table
folder      the folder of a result: whose it is, and what is replaced
numbers     how numbers are written: few digits, intervals, per cent
words       phrases that several families use
charts      axes, line charts, and planes of two judges at once
"""
