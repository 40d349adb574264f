"""Choices: models of answers, fitted by likelihood or least squares, and their comparison."""
