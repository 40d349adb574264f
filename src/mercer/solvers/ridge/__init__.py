"""Ridge: (K + λW⁻¹)a + b = y with its offset, for fits, folds, paths, evidence and posteriors."""
