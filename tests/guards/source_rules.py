"""The shape of the source: floors, import circles, what may import what, and how long a module may be."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

FLOORS = {
    0.5: ("frozen",),
    1: ("references", "meter"),
    1.5: ("tools",),  # on the design's first floor too, one step up: it stands on references and meter
    2: ("plan",),
    2.5: ("prices", "limits"),
    3: ("events", "policy", "frontier"),
    3.5: ("standing",),
    3.7: ("proposals",),
    4: ("board", "model", "schemas"),
    5: ("decide", "planners", "executors", "evaluators", "reviewers", "workers", "journal", "run"),
    5.3: ("written", "grants"),
    5.5: ("jobs",),
    6: ("loop",),
    7: ("connect", "variations", "formats", "views", "scenarios", "mcp", "gantz"),
}
FLOOR_OF = {unit: floor for floor, units in FLOORS.items() for unit in units}
PYDANTIC = {"pydantic", "pydantic_core", "typing_extensions"}  # pydantic and the two that it brings
CORE = 6  # up to this floor: pydantic and the standard library
LAZY = {"model": {"openai"}}  # what a core module may import when it is used, not when it is loaded
DRAWING = {"matplotlib", "ipywidgets", "IPython"}  # for planexec_lite.views alone
MOST_LINES = 150


@dataclass(frozen=True)
class Import:
    """One import: the module that has it, what it names, its line, and whether loading the module carries it out."""

    module: str
    target: str
    line: int
    at_load: bool


def modules(root: Path, package: str) -> dict[str, Path]:
    """Module name -> file, for every module of a package."""
    named = {}
    for path in sorted((root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


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


def all_imports(root: Path) -> list[Import]:
    """Every import of both packages."""
    files = modules(root, "planexec_lite") | modules(root, "mock_llm")
    return [found for name, path in files.items() for found in imports(name, path, set(files))]


def unit_of(module: str) -> str | None:
    """The part of planexec_lite that a module belongs to; None for the package itself and for strangers."""
    parts = module.split(".")
    return parts[1] if parts[0] == "planexec_lite" and len(parts) > 1 else None


def faults_of(found: Import) -> Iterator[str]:
    """What is wrong with one import."""
    unit, target = unit_of(found.module), unit_of(found.target)
    top = found.target.split(".")[0]
    floor = FLOOR_OF.get(unit or "", 0)
    if found.module.split(".")[0] == "mock_llm" and top == "planexec_lite":
        yield "mock_llm knows nothing of planexec_lite"
    if unit and target and unit != target and FLOOR_OF.get(target, 0) >= floor:
        yield f"{unit} is on floor {floor}, {target} on floor {FLOOR_OF.get(target, 0)}: import only from floors below"
    if unit and found.target == "planexec_lite":
        yield "a module imports from the module that has the name, not from the package"
    if top in DRAWING and unit != "views":
        yield f"only planexec_lite.views imports {top}"
    if unit and 0 < floor <= CORE and top not in {"planexec_lite", *PYDANTIC, *sys.stdlib_module_names}:
        if top not in LAZY.get(unit, set()):
            yield f"the core imports pydantic and the standard library, not {top}"
        elif found.at_load:
            yield f"{unit} imports {top} when it is used, not when it is loaded"


def import_faults(root: Path) -> list[str]:
    """Every import that breaks a rule, and every module without a floor."""
    units = {unit for name in modules(root, "planexec_lite") if (unit := unit_of(name))}
    said = [
        f"planexec_lite.{unit} stands on no floor: place it in FLOORS of tests/guards/source_rules.py"
        for unit in sorted(units - set(FLOOR_OF) - {"__init__", "__main__"})
    ]
    for found in all_imports(root):
        said += [f"{found.module}:{found.line} imports {found.target}: {fault}" for fault in faults_of(found)]
    return list(dict.fromkeys(said))


def circle(root: Path) -> list[str]:
    """The modules of one import circle, first and last the same; empty when there is none."""
    files = modules(root, "planexec_lite") | modules(root, "mock_llm")
    graph: dict[str, set[str]] = {name: set() for name in files}
    for found in all_imports(root):
        if found.at_load and found.target in files and found.target != found.module:
            graph[found.module].add(found.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def code_lines(source: str) -> int:
    """Lines that hold code: no blank lines, no comments, no docstrings."""
    tree = ast.parse(source)
    text: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            text |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = enumerate(source.splitlines(), 1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and n not in text for n, line in lines)


def long_modules(root: Path) -> list[str]:
    """Modules with more code lines than one module should have."""
    files = modules(root, "planexec_lite") | modules(root, "mock_llm")
    counted = {name: code_lines(path.read_text(encoding="utf-8")) for name, path in files.items()}
    return [f"{name} has {n} code lines; {MOST_LINES} is the most" for name, n in counted.items() if n > MOST_LINES]
