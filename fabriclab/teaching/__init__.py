"""What the notebooks in `analysis/` need beside the Python API: exercises that are checked, a study beside our runs."""

from fabriclab.teaching.exercises import Verdict, check_answer
from fabriclab.teaching.published import StudyTable, beside_study

__all__ = ["StudyTable", "Verdict", "beside_study", "check_answer"]
