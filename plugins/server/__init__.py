"""Servers that speak OpenAI's protocol, as a backend: what is sent, how answers are read, kept and paid for."""
