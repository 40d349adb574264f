"""scikit-learn's names, learned by mercer: change one import, or none.

`mercer.sklearn.svm.SVC` has the signature, the defaults and the attributes of
`sklearn.svm.SVC`; so have the others of the same submodules. `patch()` puts them in the place of
scikit-learn's, and ``python -m mercer.sklearn script.py`` runs a script so. What mercer cannot do
in the same way is left to scikit-learn, and said once, by name and reason.
"""

from mercer.sklearn.patching import patch, patched, patching, unpatch

__all__ = ["patch", "patched", "patching", "unpatch"]
