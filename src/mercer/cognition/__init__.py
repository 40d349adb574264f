"""Cognition: models of how people categorize, on the same kernels as everything else."""
