"""The shape of the source: floors, import cycles, and allowed imports."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from pathlib import Path


@dataclass(frozen=True)
class Import:
    """One import: the module that has it, what it names, its line, and whether loading the module carries it out."""

    module: str
    target: str
    line: int
    at_load: bool


@dataclass(frozen=True)
class Floors:
    """The parts of a package, lowest floor first: each part imports only from lower floors, and from itself.

    Args:
        inside: the packages whose folders and modules the parts are.
        floors: the names of the parts on each floor.
        faces: whether other parts import from a folder's `__init__` alone.
        open: the folders whose modules can all be imported.
    """

    inside: tuple[str, ...]
    floors: tuple[tuple[str, ...], ...]
    faces: bool = True
    open: tuple[str, ...] = ()

    def part(self, module: str) -> str | None:
        """The part that a module belongs to; None for the package itself and for other packages."""
        for package in self.inside:
            if module.startswith(f"{package}."):
                return module.removeprefix(f"{package}.").split(".")[0]
        return None

    def floor(self, part: str) -> int:
        """The number of a part's floor, from 1; 0 where it has none."""
        return next((number for number, parts in enumerate(self.floors, 1) if part in parts), 0)

    def faults(self, imported: Import) -> Iterator[str]:
        here, there = self.part(imported.module), self.part(imported.target)
        if here is None or there is None or here == there:
            return
        if self.floor(there) >= self.floor(here):
            yield f"{here} is on floor {self.floor(here)}, {there} on floor {self.floor(there)}: import only from floors below"
        deep = imported.target.count(".") > self.inside[0].count(".") + 1
        if deep and self.faces and there not in self.open:
            yield f"import from {self.inside[0]}.{there}, the face of its folder; add the name there if it lacks"


PACKAGES = ("planexec_lite", "planexec_lab", "mock_llm")
KIT = Floors(
    ("planexec_lite", "planexec_lab"),
    (
        ("frozen",),
        ("meter",),
        ("tools",),
        ("plan",),
        ("core", "model"),
        ("capabilities", "workers"),
        ("assembly",),
        ("run",),
        ("roles", "storage"),
        ("agent",),
        ("json_schema", "lines", "real_clock", "spans", "timed_llm"),
        ("anthropic_adapter", "capacity", "cluster", "formats", "views", "worlds", "variations"),
        ("connect", "grade", "mcp", "sketches"),
        ("gantz", "scoreboard"),
        ("recorded",),
        ("prompts", "your_model"),
        ("__main__",),
    ),
    faces=False,
)
MOCK_LLM = Floors(
    ("mock_llm",),
    (
        ("command", "json_schema", "types"),
        ("script",),
        ("engine",),
        ("api",),
        ("serve", "authoring"),
        ("llm",),
        ("__main__", "pytest_plugin"),
    ),
)
VIEWS = Floors(
    ("planexec_lab.views",),
    (
        ("drawing",),
        ("step_remarks", "narration"),
        ("board_table", "react_thoughts", "plan_diff"),
        ("graph_drawing", "charts", "ledger_table", "span_tree"),
        ("timeline_drawing",),
        ("widgets",),
        ("review_desk",),
    ),
    open=("drawing",),
)
FORBIDDEN = {  # (what is imported, by which package)
    *(("planexec_lab", package) for package in ("planexec_lite", "mock_llm")),
    *(("mock_llm", "planexec_lite"), ("planexec_lite", "mock_llm")),
    *(("exercises", package) for package in PACKAGES),
}
PYDANTIC = {"pydantic", "pydantic_core", "typing_extensions"}  # pydantic and the two that it brings
# what a part of planexec_lite may import when it is used, not when it is loaded; else pydantic and the standard library
LAZY = {"model": {"openai"}}
DRAWING = {"matplotlib", "ipywidgets", "IPython"}  # for planexec_lab.views alone


def modules(root: Path, package: str) -> dict[str, Path]:
    named = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


def all_modules(root: Path) -> dict[str, Path]:
    return {name: path for package in PACKAGES for name, path in modules(root, package).items()}


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def imports(module: str, path: Path, known: set[str]) -> Iterator[Import]:
    """Every import of one module, with relative ones made absolute and `from package import module` resolved."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]

    def walk(node: ast.AST, at_load: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(module, alias.name, node.lineno, at_load)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inner = f"{base}.{alias.name}"
                yield Import(module, inner if inner in known else base, node.lineno, at_load)
        else:
            later = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)) or is_type_checking(node)
            for child in ast.iter_child_nodes(node):
                yield from walk(child, at_load and not later)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), True)


@cache
def all_imports(root: Path) -> list[Import]:
    files = all_modules(root)
    return [imported for name, path in files.items() for imported in imports(name, path, set(files))]


def faults_of(imported: Import) -> Iterator[str]:
    package, top = (name.split(".")[0] for name in (imported.module, imported.target))
    unit = KIT.part(imported.module)
    if top != package and (top, package) in FORBIDDEN:
        yield f"{package} never imports {top}"
    for floors in (KIT, MOCK_LLM, VIEWS):
        yield from floors.faults(imported)
    own = KIT.inside if unit else MOCK_LLM.inside
    if imported.module not in PACKAGES and imported.target in own:
        yield "import from the folder or module that has the name, not from the package"
    if top in DRAWING and unit != "views":
        yield f"only planexec_lab.views imports {top}"
    if package == "planexec_lite" and unit and top not in {"planexec_lite", *PYDANTIC, *sys.stdlib_module_names}:
        if top not in LAZY.get(unit, set()):
            yield f"the core imports pydantic and the standard library, not {top}"
        elif imported.at_load:
            yield f"{unit} imports {top} when it is used, not when it is loaded"


def import_faults(root: Path) -> list[str]:
    """Every import that breaks a rule, and every part without a floor."""
    report = []
    for floors in (KIT, MOCK_LLM, VIEWS):
        parts = {floors.part(name) for name in all_modules(root)} - {None, *chain(*floors.floors)}
        report += [
            f"{part} stands on no floor: place it in tests/guards/source_rules.py" for part in sorted(map(str, parts))
        ]
    for imported in all_imports(root):
        where = f"{imported.module}:{imported.line} imports {imported.target}"
        report += [f"{where}: {fault}" for fault in faults_of(imported)]
    return list(dict.fromkeys(report))


def circle(root: Path, late: tuple[str, ...] = ()) -> list[str]:
    """The modules of an import cycle, first and last the same; empty without a cycle.

    An import inside a function, or for type checking alone, counts in the modules whose names begin with one of `late`.
    """
    files = all_modules(root)
    graph: dict[str, set[str]] = {name: set() for name in files}
    for imported in all_imports(root):
        if (
            (imported.at_load or imported.module.startswith(late))
            and imported.target in files
            and imported.target != imported.module
        ):
            graph[imported.module].add(imported.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
