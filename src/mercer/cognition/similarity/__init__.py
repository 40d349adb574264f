"""Similarity: how it falls off with distance, maps of stimuli, and axioms that it may break."""
