"""What a timeline's SVG holds: its words, and its lines of a certain thickness."""

from xml.etree import ElementTree

from planexec_lite.views import Figure


def drawn(figure: Figure) -> list[str]:
    """The texts, in the order in which they are drawn."""
    root = ElementTree.fromstring(figure.svg)
    return [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}text")]


def lines(figure: Figure, thick: float) -> list[list[tuple[float, float]]]:
    """The lines that are `thick` pixels wide, each as its points, in pixels."""
    root = ElementTree.fromstring(figure.svg)
    return [
        points(element.attrib["d"], figure.width / float(root.attrib["viewBox"].split()[2]))
        for element in root.iter("{http://www.w3.org/2000/svg}path")
        if f"stroke-width: {thick * 0.75:g};" in element.attrib.get("style", "") + ";" and "fill: none" in element.attrib["style"]
    ]  # fmt: skip


def points(way: str, factor: float) -> list[tuple[float, float]]:
    """The points of an SVG path of straight lines."""
    numbers = [float(part) * factor for part in way.replace("M", " ").replace("L", " ").split()]
    return list(zip(numbers[::2], numbers[1::2], strict=True))
