"""Run by the Python of another environment: shows a live board, a player, a quiz and a desk in a kernel, presses, and types.

Prints what was sent, as JSON: the media types of each cell's outputs, and what the player and the desk said after each
gesture. What raises while a press is handled ends it, as what raises in a cell does.
"""

import json

import ipykernel
import IPython
import ipywidgets
from jupyter_client.manager import start_new_kernel

SETUP = """
from planexec_lab import views
from planexec_lite import Plan, Simulated, Step, Toolbox, ToolExecutor, execute, tool
from planexec_lab.views.widgets import trace_player
from exercises.interview.quiz import quiz
trace_player.PAUSE = 0.05

@tool(latency=1.0, effects="none")
def act(n: int) -> int:
    "Do it."
    return n

steps = [Step(id=str(n), tool="act", params={"n": n}, depends_on=(str(n - 1),) * (n > 1)) for n in range(1, 61)]
small, large = (Plan(goal="Act", steps=tuple(steps[:many])) for many in (4, 60))
toolbox = Toolbox([act])
tools, screen = ToolExecutor(toolbox), views.live()
def decision():
    try:
        return desk.decision.verdict
    except views.NotDecided as problem:
        return str(problem)
def done(plan):
    return execute(plan, tools, workers=Simulated(2), watch=screen)
"""
CELLS = {
    "live board": "screen",
    "run": "run = done(small)",
    "live board, after": "screen",
    "player": "player = views.player(run)\nplayer",
    "large player": "long = views.player(done(large))\nlong",
    "quiz": "quiz('01')",
    "desk": "desk = views.desk(small, toolbox)\ndesk",
}
VIEW = "application/vnd.jupyter.widget-view+json"


class Kernel:
    def __init__(self):
        self.manager, self.client = start_new_kernel(kernel_name="python3")

    def until_idle(self, id, until=None):
        """The kernel's messages about a request, until it ends and `until` is true of one of them."""
        messages, idle = [], False
        while not idle or (until is not None and not any(until(one) for one in messages)):
            one = self.client.get_iopub_msg(timeout=60)
            assert one["msg_type"] != "error", "\n".join(one["content"]["traceback"])
            messages.append(one)
            mine = one["parent_header"].get("msg_id") == id
            idle = idle or (mine and one["content"].get("execution_state") == "idle")
        return messages

    def run(self, code):
        return self.until_idle(self.client.execute(code))

    def ask(self, code):
        return "".join(
            one["content"]["text"] for one in self.run(f"print({code})") if one["msg_type"] == "stream"
        ).strip()

    def send(self, model, data, until=None):
        message = self.client.session.msg("comm_msg", {"comm_id": self.ask(f"{model}.model_id"), "data": data})
        self.client.shell_channel.send(message)
        return self.until_idle(message["header"]["msg_id"], until)

    def press(self, button, until=None):
        return self.send(button, {"method": "custom", "content": {"event": "click"}}, until)

    def type(self, field, value):
        return self.send(field, {"method": "update", "state": {"value": value}, "buffer_paths": []})


def plays_to_the_end(one):
    return one["msg_type"] == "comm_msg" and one["content"]["data"].get("state", {}).get("description") == "Play"


kernel = Kernel()
try:
    models, outputs, answers = set(), {}, []
    for name, code in {"setup": SETUP, **CELLS}.items():
        messages = kernel.run(code)
        models |= {one["content"]["comm_id"] for one in messages if one["msg_type"] == "comm_open"}
        shown = [one["content"]["data"] for one in messages if one["msg_type"] == "display_data"]
        outputs[name] = [sorted(data) for data in shown]
        assert all(data[VIEW]["model_id"] in models for data in shown if VIEW in data), "a model that was opened"
    line = "player.text().splitlines()[0]"
    kernel.type("player.number", 3)
    answers.append(kernel.ask(line))
    kernel.press("player.next")
    answers.append(kernel.ask(line))
    kernel.press("player.play", plays_to_the_end)
    answers.append(kernel.ask(line))
    answers.append(kernel.ask("long.text().splitlines()[-1]"))
    answers.append(kernel.ask("decision()"))
    # No page tells that all that was typed has arrived: the second press counts.
    for name in ("Edit 4", "Remove 4", "Add a step", "Remove 5", "Approve", "Approve"):
        kernel.press(f"desk.controls[{name!r}]")
    answers.append(kernel.ask("decision()"))
    versions = [module.__version__ for module in (IPython, ipykernel, ipywidgets)]
    print(json.dumps({"versions": versions, "outputs": outputs, "said": answers}))
finally:
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel(now=True)
