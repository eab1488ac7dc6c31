"""The names of attributes: OpenTelemetry's semantic conventions for GenAI agents, and the kit's additions.

https://github.com/open-telemetry/semantic-conventions-genai, docs/gen-ai: agent spans, tool execution, evaluation. They are in
development. They have no names for a model's cost, a span's step and its attempt.
"""

from __future__ import annotations

OPERATION = "gen_ai.operation.name"
PROVIDER = "gen_ai.provider.name"
AGENT = "gen_ai.agent.name"
MODEL = "gen_ai.request.model"
MODEL_THAT_ANSWERED = "gen_ai.response.model"
TOKENS_IN = "gen_ai.usage.input_tokens"
TOKENS_OUT = "gen_ai.usage.output_tokens"
TOOL = "gen_ai.tool.name"
TOOL_TYPE = "gen_ai.tool.type"
ARGUMENTS = "gen_ai.tool.call.arguments"
RESULT = "gen_ai.tool.call.result"
EVALUATION = "gen_ai.evaluation.result"  # a span event
CRITERION = "gen_ai.evaluation.name"
VERDICT = "gen_ai.evaluation.score.label"
EXPLANATION = "gen_ai.evaluation.explanation"
OUTPUT = "gen_ai.output.messages"
INPUT = "gen_ai.input.messages"
ERROR = "error.type"
OTHER_ERROR = "_OTHER"

INVOKE_AGENT, EXECUTE_TOOL, CHAT, PLAN = "invoke_agent", "execute_tool", "chat", "plan"
EMBEDDINGS, RETRIEVAL = "embeddings", "retrieval"
MODELS_ASKED = (CHAT, "generate_content", "text_completion")
OPENAI = "openai"  # the provider whose protocol the kit's models speak

OWN = "planexec."
STARTED, ENDED = OWN + "started", OWN + "ended"  # the kinds of event that a span begins and ends with
EVENT, NUMBER = OWN + "event", OWN + "number"  # a span event that is an event of the run: as JSON, and its number
CALL = OWN + "call"  # which call of a model it was, in its job
COST = OWN + "cost"  # US dollars
STEP, DEPENDS_ON = OWN + "step", OWN + "depends_on"

# Names that frameworks used before the conventions had one, or use in addition.
ARGUMENTS_TOO = ("input.value", "gen_ai.prompt", INPUT)
RESULT_TOO = ("output.value", "gen_ai.completion", OUTPUT)
DROPPED = OWN + "dropped"  # how many attributes and events an exporter dropped
OF_LANGSMITH = "langsmith.span.kind"  # which its exporter gives to each span
