"""Several runs side by side: methods, their rounds and numbers of candidates, on the same requests under the same judges."""
