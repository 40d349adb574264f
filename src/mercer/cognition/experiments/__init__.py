"""Experiments: what was shown in which order, and what people answered."""
