"""Who judges: reviewers of plans, evaluators of results; what a grant covers, and which call would be a repeat."""

from planexec_lite.review.evaluators import Evaluator, LLMEvaluator, RuleEvaluator, Verdict
from planexec_lite.review.reviewers import ApproveAll, AskPerson, Decision, Reviewer, ScriptedReviewer

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
