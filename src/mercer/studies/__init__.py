"""Studies: from a table to a machine, with an honest estimate of how well it will do."""

from mercer.studies.families import family_names
from mercer.studies.keeping import Kept, Predicted, kept
from mercer.studies.outcome import Attempt, Curve, Exhibit, HeldOut, Neighbor, Rest, Study, Surface
from mercer.studies.planning import Design, design, study
from mercer.studies.proposals import placed

__all__ = [
    "Attempt",
    "Curve",
    "Design",
    "Exhibit",
    "HeldOut",
    "Kept",
    "Neighbor",
    "Predicted",
    "Rest",
    "Study",
    "Surface",
    "design",
    "family_names",
    "kept",
    "placed",
    "study",
]
