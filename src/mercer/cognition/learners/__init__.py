"""Learners: models that are told the category after each trial."""
