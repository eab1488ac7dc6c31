"""Files of other systems, in YAML, JSON or a language of their own: each is refused by its name.

Their approvals, branches and loops have no place in a plan, so such a file is never read in part. Of models' answers, those of
OpenAI's APIs are read (`tool_calls`).
"""

from __future__ import annotations

import json
import re
from typing import Any

from planexec_lite.plan import Problem

MEND = "write steps:, and below it - id: a, tool: …, params: …, depends_on: […]; where a person approves, gate: true"
_MOST = 500_000  # characters
_OURS = re.compile(r"""^["']?on["']?:|\bruns-on:|^(?:stages|tasks):[ \t]*(?:#.*)?\n[ \t]+[^-\s#]""", re.MULTILINE)
_MARKS = {  # the marks of each system's files; a mark that several systems share comes last; @ is a place for a key
    "a Jenkinsfile": r"^pipeline *\{",
    "a Snakefile": r"^rule \w+:$",
    "a Nextflow script": r"^(?:process \w+|workflow) *\{",
    "a Makefile": r"^[\w./-]+:(?: [\w./-]+)*\n\t\S",
    "an XML file": r"\A\s*<(?:\?xml|!--|[\w:]+ [^>]*xmlns)",
    "a GoCD pipeline": r"^format_version:|@materials:",
    "a Prefect configuration": r"^prefect-version:|@work_pool:",
    "a Kubeflow pipeline": r"^(?:pipelineInfo|deploymentSpec):|@dependentTasks:",
    "a Harness pipeline": r"@(?:projectIdentifier|orgIdentifier):|\bHarnessApproval\b|@type: Approval\b",
    "a workflow of n8n": r"n8n-nodes-|@typeVersion:",
    "a flow of Node-RED": r"@wires:",
    "a pipeline of Data Factory": r"@dependencyConditions:",
    "a logic app of Azure": r"Microsoft\.Logic/",
    "an Azure ML job": r"azuremlschemas",
    "a Conductor workflow": r"@taskReferenceName:",
    "a Databricks job": r"@task_key:",
    "a Spinnaker pipeline": r"@(?:refId|requisiteStageRefIds):",
    "an AWS CodePipeline": r"@actionTypeId:",
    "a SageMaker pipeline": r"^PipelineExperimentConfig:",
    "a Turborepo configuration": r"turbo(?:repo)?\.(?:build|com|dev)/",
    "tasks of VS Code": r"^version: *[\"']?2\.0\.0[\s\S]{0,2000}@label:",
    "a scenario of Make": r"@mapper:",
    "a flow of Activepieces": r"@nextAction:",
    "a Serverless workflow": r"^(?:document|do):|@dsl:|^specVersion:",
    "a configuration of LangGraph": r"^graphs:",
    "a configuration of pre-commit": r"^repos:",
    "a CloudFormation template": r"^AWSTemplateFormatVersion:|^Resources:",
    "an Argo workflow": r"argoproj\.io|@(?:entrypoint|suspend|dag):",
    "a Tekton pipeline": r"tekton\.dev|@(?:runAfter|taskRef|taskSpec):",
    "a CircleCI configuration": r"^(?:workflows|orbs|executors):",
    "a Compose file": r"^services:",
    "a Bitbucket pipeline": r"^pipelines:",
    "a Travis configuration": r"^(?:language|dist|before_install|install):",
    "an Azure pipeline": r"^(?:trigger|pool|pr):|^ *- (?:job|deployment|stage|task|script|bash|pwsh|checkout):|@dependsOn:",
    "a GitLab pipeline": r"^(?:stages|include|default):|@(?:script|before_script|after_script|extends):",
    "an Ansible playbook": r"@(?:hosts|become|register|ansible\.[\w.]+|(?:import|include)_(?:tasks|role|playbook)):",
    "an Airflow DAG": r"@(?:operator|dag_id|bash_command|default_args):",
    "a Buildkite pipeline": r"^ *- (?:block|wait|input|label|command|trigger):",
    "a Drone or Woodpecker pipeline": r"^kind: *[\"']?pipeline|@image:.*\n *commands:|^when:",
    "a Cloud Build configuration": r"@waitFor:|\bgcr\.io/",
    "a Concourse pipeline": r"^(?:resources|resource_types):|@passed:",
    "a Codefresh pipeline": r"@type: *(?:pending-approval|freestyle)\b",
    "a Semaphore pipeline": r"^(?:blocks|promotions):",
    "a CodeBuild specification": r"^phases:",
    "a Kestra flow": r"^namespace:",
    "a list of CrewAI's tasks": r"@expected_output:",
    "a CWL workflow": r"^cwlVersion:",
    "a state machine of Step Functions": r"^(?:StartAt|States):",
    "a Google workflow": r"^main:",
    "a GitHub action or workflow": r"^runs:|@(?:uses|runs-on):",
    "a Kubernetes object": r"^apiVersion:",
    "a chart of nodes and edges": r"@edges:",
    "an answer of Claude, or a request": r"@stop_reason:|@type: (?:tool_use|tool_result|content_block_\w+)\b",
    "an answer of Gemini, or a request": r"@(?:functionCall|functionResponse|functionDeclarations|usageMetadata):"
    r"|^(?:candidates|contents):|@role: \w+\n +parts:",
    "an answer of Bedrock, or a request": r"@(?:toolUse|toolResult|stopReason):",
    "an answer of Ollama": r"@done_reason:",
}
_KEY = r"(?:^[ -]*|[{,] *)"
_PATTERNS = {name: re.compile(marks.replace("@", _KEY), re.MULTILINE) for name, marks in _MARKS.items()}


def problem_of(data: Any) -> Problem | None:
    """Return the fault of a file of another system, as text or as parsed JSON; None if no system is recognised."""
    if isinstance(data, str) and _OURS.search(data):
        return None
    text = data if isinstance(data, str) else _as_yaml(data)
    for name, pattern in _PATTERNS.items():
        if pattern.search(text):
            return Problem("wrong_shape", None, f"line 1: this looks like {name}, and such a file is not read", MEND)
    return None


def _as_yaml(data: Any) -> str:
    """Return the data as YAML, with one key a line; "" for data that JSON can't hold."""
    import yaml

    try:
        text = json.dumps(data)
    except (TypeError, ValueError):
        return ""
    if len(text) > _MOST:
        return ""
    return str(yaml.dump(json.loads(text), Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper), sort_keys=False))
