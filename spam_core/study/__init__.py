"""The paper's prediction task, played by simple readers instead of people.

A reader sees some explanations with what the model decided, then further ones without
it, and says what the model decided. How often it is right tells how far explanations of
a given length tell the decision that they explain.
"""

from spam_core.study.conditions import (
    PEOPLE,
    balanced_rows,
    explain_conditions,
)
from spam_core.study.readers import NearestReader, Reader, Shown, SumReader
from spam_core.study.result import Simulation
from spam_core.study.simulation import simulate

__all__ = [
    "PEOPLE",
    "NearestReader",
    "Reader",
    "Shown",
    "Simulation",
    "SumReader",
    "balanced_rows",
    "explain_conditions",
    "simulate",
]
