"""Films: the importer of reviews with what critics said."""
