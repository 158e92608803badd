"""Retrieval: which remembered lines bear on a message, and how likely each answers it."""
