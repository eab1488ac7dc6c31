"""The shape of the source: floors, import circles, and what may import what."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

FLOORS = {
    1: ("file_lock",),
    2: ("meter", "references", "sqlite_file"),
    3: ("tools",),
    4: ("plan",),
    5: ("core", "model"),
    6: ("capabilities", "workers"),
    7: ("assembly",),
    8: ("changed_since", "events", "run"),
    9: ("decisions", "journal"),
    10: ("roles",),
    11: ("agent",),
    12: ("spans",),
    13: ("connect", "formats", "tickets", "views", "worlds", "variations"),
    14: ("grade", "mcp", "scoreboard"),
    15: ("comparison", "gantz", "recorded"),
    16: ("prompts",),
    17: ("__main__",),
}
FLOOR_OF = {unit: floor for floor, units in FLOORS.items() for unit in units}
PACKAGES = ("planexec_lite", "planexec_lab", "mock_llm")
MOCK_LLM_FLOORS = {  # folders of mock_llm: each imports from folders on lower floors, and from itself
    1: ("json_schema", "types"),
    2: ("script",),
    3: ("engine",),
    4: ("api",),
    5: ("serve", "authoring"),
    6: ("llm",),
    7: ("__main__", "pytest_plugin"),
}
MOCK_LLM_FLOOR_OF = {folder: floor for floor, folders in MOCK_LLM_FLOORS.items() for folder in folders}
VIEWS_FLOORS = {  # folders and modules of views: each imports from lower floors, and from itself
    1: ("drawing",),
    2: ("step_remarks", "narration"),
    3: ("board_table", "react_thoughts", "plan_diff"),
    4: ("graph_drawing", "message_sequence", "charts", "ledger_table", "span_tree"),
    5: ("timeline_drawing",),
    6: ("widgets",),
    7: ("review_desk",),
}
VIEWS_FLOOR_OF = {part: floor for floor, parts in VIEWS_FLOORS.items() for part in parts}
FORBIDDEN = {  # (what is imported, by which package)
    *(("planexec_lab", package) for package in ("planexec_lite", "mock_llm")),
    *(("mock_llm", "planexec_lite"), ("planexec_lite", "mock_llm")),
    *(("exercises", package) for package in PACKAGES),
}
PYDANTIC = {"pydantic", "pydantic_core", "typing_extensions"}  # pydantic and the two that it brings
# what a part of planexec_lite may import when it is used, not when it is loaded; else pydantic and the standard library
LAZY = {"model": {"openai"}}
DRAWING = {"matplotlib", "ipywidgets", "IPython"}  # for planexec_lab.views alone


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


def all_modules(root: Path) -> dict[str, Path]:
    """Module name -> file, for all packages."""
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


def all_imports(root: Path) -> list[Import]:
    """Every import of all packages."""
    files = all_modules(root)
    return [imported for name, path in files.items() for imported in imports(name, path, set(files))]


def unit_of(module: str) -> str | None:
    """The part of planexec_lite or planexec_lab that a module belongs to; None for the packages and for strangers."""
    parts = module.split(".")
    return parts[1] if parts[0] in ("planexec_lite", "planexec_lab") and len(parts) > 1 else None


def faults_of(imported: Import) -> Iterator[str]:
    """What is wrong with one import."""
    unit, target = unit_of(imported.module), unit_of(imported.target)
    top = imported.target.split(".")[0]
    floor = FLOOR_OF.get(unit or "", 0)
    package = imported.module.split(".")[0]
    if top != package and (top, package) in FORBIDDEN:
        yield f"{package} never imports {top}"
    if unit and target and unit != target and FLOOR_OF.get(target, 0) >= floor:
        yield f"{unit} is on floor {floor}, {target} on floor {FLOOR_OF.get(target, 0)}: import only from floors below"
    if unit and imported.target in ("planexec_lite", "planexec_lab"):
        yield "a module imports from the module that has the name, not from the package"
    if top in DRAWING and unit != "views":
        yield f"only planexec_lab.views imports {top}"
    if package == "planexec_lite" and unit and top not in {"planexec_lite", *PYDANTIC, *sys.stdlib_module_names}:
        if top not in LAZY.get(unit, set()):
            yield f"the core imports pydantic and the standard library, not {top}"
        elif imported.at_load:
            yield f"{unit} imports {top} when it is used, not when it is loaded"


def folder_of(module: str) -> str | None:
    """The folder of mock_llm that a module belongs to; None for the package's own face and for strangers."""
    parts = module.split(".")
    return parts[1] if parts[0] == "mock_llm" and len(parts) > 1 else None


def mock_llm_faults(root: Path) -> Iterator[str]:
    """Every import inside mock_llm that goes up, sideways or past a folder's face: its file and line, and the mend."""
    files = modules(root, "mock_llm")
    for folder in sorted({folder for name in files if (folder := folder_of(name))} - set(MOCK_LLM_FLOOR_OF)):
        yield f"mock_llm.{folder} stands on no floor: place it in MOCK_LLM_FLOORS of tests/guards/source_rules.py"
    for name, path in files.items():
        here = folder_of(name)
        floor = MOCK_LLM_FLOOR_OF.get(here or "")
        if floor is None:
            continue
        for imported in imports(name, path, set(files)):
            where = f"{path.relative_to(root).as_posix()}:{imported.line} imports {imported.target}"
            there = folder_of(imported.target)
            if imported.target == "mock_llm":
                yield f"{where}: import from the folder that has the name, not from the package above it"
            if there is None or there == here:
                continue
            above = MOCK_LLM_FLOOR_OF.get(there, 0)
            if above >= floor:
                yield (
                    f"{where}: {here} is on floor {floor}, {there} on floor {above}, and imports go down; "
                    f"move what both need to a folder below {here}, or pass it in as an argument"
                )
            if imported.target.count(".") > 1:
                yield f"{where}: import from mock_llm.{there}, the face of its folder; add the name there if it lacks"


def part_of_views(module: str) -> str | None:
    """The folder or module of views that a module belongs to; None for the face of views and for strangers."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["planexec_lab", "views"] and len(parts) > 2 else None


def views_faults(root: Path) -> Iterator[str]:
    """Every import inside views, at load or late, that goes up, sideways or past a folder's face."""
    parts = {part for name in modules(root, "planexec_lab") if (part := part_of_views(name))}
    for part in sorted(parts - set(VIEWS_FLOOR_OF)):
        yield f"views.{part} stands on no floor: place it in VIEWS_FLOORS of tests/guards/source_rules.py"
    for imported in all_imports(root):
        here, there = part_of_views(imported.module), part_of_views(imported.target)
        if here is None or there is None or here == there:
            continue
        where = f"{imported.module}:{imported.line} imports {imported.target}"
        floor, above = VIEWS_FLOOR_OF.get(here, 0), VIEWS_FLOOR_OF.get(there, 0)
        if above >= floor:
            yield f"{where}: views.{here} is on floor {floor}, views.{there} on floor {above}, and imports go down"
        if imported.target.count(".") > 2 and there != "drawing":  # of drawing, each module is a face
            yield f"{where}: import from planexec_lab.views.{there}, the face of its folder"


def import_faults(root: Path) -> list[str]:
    """Every import that breaks a rule, and every module without a floor."""
    units = {unit for name in all_modules(root) if (unit := unit_of(name))}
    report = [
        f"{unit} stands on no floor: place it in FLOORS of tests/guards/source_rules.py"
        for unit in sorted(units - set(FLOOR_OF) - {"__init__", "__main__"})
    ]
    for imported in all_imports(root):
        report += [
            f"{imported.module}:{imported.line} imports {imported.target}: {fault}" for fault in faults_of(imported)
        ]
    return list(dict.fromkeys([*report, *mock_llm_faults(root), *views_faults(root)]))


def circle(root: Path, late: str = "nowhere") -> list[str]:
    """The modules of one import circle, first and last the same; empty when there is none.

    An import inside a function, or for type checking alone, counts in the modules whose names begin with `late`.
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
