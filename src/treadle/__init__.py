"""Weave language-model calls into structures: measure them, search them, test them honestly."""

from treadle.api import compare, evaluate, fix, run, search
from treadle.api_sync import compare_sync, evaluate_sync, fix_sync, run_sync, search_sync
from treadle.ledger.budget import Budget
from treadle.ledger.problem import Problem
from treadle.ledger.run import Run
from treadle.ledger.session import Session
from treadle.tasks.decorator import task
from treadle.tasks.scorers.custom import scorer
from treadle.workflows.decorator import workflow

__all__ = [
    "Budget",
    "Problem",
    "Run",
    "Session",
    "compare",
    "compare_sync",
    "evaluate",
    "evaluate_sync",
    "fix",
    "fix_sync",
    "run",
    "run_sync",
    "scorer",
    "search",
    "search_sync",
    "task",
    "workflow",
]
