"""Judges that their authors released, and the command that converts their checkpoints."""
