"""Studies: from a table to a machine, with an honest estimate of how well it will do."""

from mercer.errors import renamed
from mercer.studies.candidates import family_names, on_columns
from mercer.studies.results import (
    Attempt,
    Example,
    HeldOutPredictions,
    LearningCurve,
    Neighbor,
    Study,
    Surface,
    UnsampledRows,
)
from mercer.studies.saved import Predictions, SavedModel, open_model
from mercer.studies.several import study_targets
from mercer.studies.study_design import StudyDesign, design, study

__all__ = [
    "Attempt",
    "Example",
    "HeldOutPredictions",
    "LearningCurve",
    "Neighbor",
    "Predictions",
    "SavedModel",
    "Study",
    "StudyDesign",
    "Surface",
    "UnsampledRows",
    "design",
    "family_names",
    "on_columns",
    "open_model",
    "study",
    "study_targets",
]

__getattr__ = renamed(
    __name__,
    {
        "Curve": "LearningCurve",
        "Design": "StudyDesign",
        "Exhibit": "Example",
        "HeldOut": "HeldOutPredictions",
        "Kept": "SavedModel",
        "Predicted": "Predictions",
        "Rest": "UnsampledRows",
        "kept": "open_model",
        "placed": "on_columns",
    },
)
