"""Best of n, and preference pairs."""
