"""Run by the Python of another environment: presses and types in a player and a desk that a kernel shows.

Prints as JSON the texts after each gesture. An error in a press ends the program, as an error in a cell does.
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
trace_player.PAUSE = 0.05

@tool(latency=1.0, effects="none")
def act(n: int) -> int:
    "Do it."
    return n

steps = [Step(id=str(n), tool="act", params={"n": n}, depends_on=(str(n - 1),) * (n > 1)) for n in range(1, 5)]
plan, toolbox = Plan(goal="Act", steps=tuple(steps)), Toolbox([act])
run = execute(plan, ToolExecutor(toolbox), workers=Simulated(2))
def decision():
    try:
        return desk.decision.verdict
    except views.NotDecided as problem:
        return str(problem).partition(".")[0]
"""


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
        messages = self.run(f"print({code})")
        return "".join(one["content"]["text"] for one in messages if one["msg_type"] == "stream").strip()

    def send(self, model, data, until=None):
        message = self.client.session.msg("comm_msg", {"comm_id": self.ask(f"{model}.model_id"), "data": data})
        self.client.shell_channel.send(message)
        return self.until_idle(message["header"]["msg_id"], until)

    def press(self, button, until=None):
        return self.send(button, {"method": "custom", "content": {"event": "click"}}, until)


def plays_to_the_end(one):
    return one["msg_type"] == "comm_msg" and one["content"]["data"].get("state", {}).get("description") == "Play"


kernel = Kernel()
try:
    for cell in (SETUP, "player = views.player(run)\nplayer", "desk = views.desk(plan, toolbox)\ndesk"):
        kernel.run(cell)
    line, answers = "player.text().splitlines()[0]", []
    kernel.send("player.number", {"method": "update", "state": {"value": 3}, "buffer_paths": []})
    answers.append(kernel.ask(line))
    kernel.press("player.next")
    answers.append(kernel.ask(line))
    kernel.press("player.play", plays_to_the_end)
    answers += [kernel.ask(line), kernel.ask("decision()")]
    # No page tells that all that was typed has arrived: the second press counts.
    for name in ("Edit 4", "Remove 4", "Add a step", "Remove 5", "Approve", "Approve"):
        kernel.press(f"desk.controls[{name!r}]")
    answers.append(kernel.ask("decision()"))
    versions = [module.__version__ for module in (IPython, ipykernel, ipywidgets)]
    print(json.dumps({"versions": versions, "answers": answers}))
finally:
    kernel.client.stop_channels()
    kernel.manager.shutdown_kernel(now=True)
