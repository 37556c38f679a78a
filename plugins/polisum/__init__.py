"""PoliSum: the importer."""
