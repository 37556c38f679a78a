"""Encoders that judge, trained on annotated articles with the trainers of sentence-transformers.

plan      what is trained on what, for how long
fitting   the bi-encoder and the classifier, each with its trainer
training  from articles to a folder with model, card and figures
"""
