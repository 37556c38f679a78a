"""Fairness measured on texts: what a summary takes up of each attribute value, told by words, by models or by a graph.

`fairness/` reduces arrays; here the arrays are made. One file for each way to make them, and one protocol for each family
(`measure`), so that a judge and an audit use the same parts.
"""
