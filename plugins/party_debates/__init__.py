"""Debates between parties: the importer."""
