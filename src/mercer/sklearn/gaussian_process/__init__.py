"""scikit-learn's Gaussian processes, learned by mercer's machines.

Kernels are scikit-learn's objects, with their θ and bounds. `mercer.sklearn.kernel_objects` says
them as kernels of mercer and noise; similarities, factors and derivatives are then mercer's.

Examples
--------
>>> import numpy as np
>>> from mercer.sklearn.gaussian_process import GaussianProcessRegressor
>>> from mercer.sklearn.gaussian_process.kernels import RBF, WhiteKernel
>>> X = np.linspace(0, 6, 30)[:, None]
>>> y = np.sin(X[:, 0]) + 0.1 * np.cos(50 * X[:, 0])
>>> machine = GaussianProcessRegressor(RBF(1.0) + WhiteKernel(0.1)).fit(X, y)
>>> mean, std = machine.predict([[1.5]], return_std=True)
>>> bool(abs(mean[0] - np.sin(1.5)) < 3 * std[0]), type(machine.native()).__name__
(True, 'GaussianProcess')
"""

from mercer.sklearn.gaussian_process.classification import GaussianProcessClassifier
from mercer.sklearn.gaussian_process.regression import GaussianProcessRegressor

__all__ = ["GaussianProcessClassifier", "GaussianProcessRegressor"]
