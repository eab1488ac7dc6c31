"""Who judges: reviewers of plans, evaluators of results."""

from planexec_lite.capabilities.judging import Verdict
from planexec_lite.decisions import Decision
from planexec_lite.review.evaluators import Evaluator, LLMEvaluator, RuleEvaluator
from planexec_lite.review.reviewers import ApproveAll, AskPerson, Reviewer, ScriptedReviewer

__all__ = [
    "ApproveAll",
    "AskPerson",
    "Decision",
    "Evaluator",
    "LLMEvaluator",
    "Reviewer",
    "RuleEvaluator",
    "ScriptedReviewer",
    "Verdict",
]
