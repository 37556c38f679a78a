"""Attention reweighting: a method that weighs the sides of a prompt alike inside the model."""
