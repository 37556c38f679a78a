"""Ray: the processes of a stage on a cluster."""
