"""What the scripted planner of the research world knows."""

from itertools import combinations

from planexec_lab.worlds.minds.requests import Reader, Topic, phrases_of
from planexec_lab.worlds.minds.scripted import Row, ScriptedPlanner
from planexec_lab.worlds.research.plan import GOAL

_SUBJECTS = {"solar": ("solar power", "solar panels"), "wind": ("wind power", "wind turbines"),
             "storage": ("storage", "energy storage")}  # fmt: skip


def _study(number: int, subject: str) -> list[Row]:
    """The three steps about a subject: search, read, summarize."""
    name, query = _SUBJECTS[subject]
    search, read, summary = str(number), str(number + 3), str(number + 6)
    best, text = f"{{step_{search}_result[0].id}}", f"{{step_{read}_result.text}}"
    return [
        Row(search, f"Search for {name}", "web_search", {"query": f"latest trends in {query}"}, when=subject),
        Row(read, f"Read the best document on {name}", "read_document", {"id": best}, [search], when=subject),
        Row(summary, f"Summarize {name}", "summarize_text", {"text": text}, [read], when=subject),
    ]


def _report(subjects: tuple[str, ...]) -> Row:
    """The report about these subjects and no others."""
    places = [place for place, subject in enumerate(_SUBJECTS) if subject in subjects]
    others = [f"-{subject}" for subject in _SUBJECTS if subject not in subjects]
    summaries = [str(7 + place) for place in places]
    sections = {"sections": [f"{{step_{id}_result}}" for id in summaries]}
    id = "10" if not others else "10" + "".join("abc"[place] for place in places)
    when = " ".join(["report", *subjects, *others])
    return Row(id, "Write the report", "write_report", sections, summaries, "every section cites a document", when)


_STUDIES = sorted(
    (row for number, subject in enumerate(_SUBJECTS, 1) for row in _study(number, subject)), key=lambda row: int(row.id)
)
_REPORTS = [_report(chosen) for count in (3, 2, 1) for chosen in combinations(_SUBJECTS, count)]
_TOPICS = (
    Topic("solar panel photovoltaic sun", "", "solar", "-solar", only="-wind -storage"),
    Topic("wind turbine", "", "wind", "-wind", only="-solar -storage"),
    Topic("storage battery batteries", "", "storage", "-storage", only="-solar -wind"),
    Topic("report", "report write written", "report", "-report"),
    Topic("preview simulation", "show display print see", "show", "", early="show", message=True),
    Topic("", "execute run", None, "show", weak=True),
)

PLANNER = ScriptedPlanner(
    GOAL,
    "skip solar power, wind power or storage, or research only one of them; write no report; only show the plan",
    [*_STUDIES, *_REPORTS],
    Reader(
        _TOPICS,
        "report",
        "research study find investigate look summarize latest newest recent trend development renewable renewables energy"
        " power brief short topic subject section part summaries what about new",
        phrases_of("research"),
    ),
    "solar wind storage report",
    "web_search",
    latency=(5.0, 4.0),
)
PLANNERS = {"scenes": PLANNER}
