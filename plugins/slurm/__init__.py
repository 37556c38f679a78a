"""SLURM: the steps of a run as jobs of a scheduler."""
