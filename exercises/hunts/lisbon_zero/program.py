"""Insert the results of earlier steps into the text of a step."""


def resolve(text, results):
    """Return the text with each reference, such as #E3, replaced by the result of that name.

    `results` maps names to texts, in the order in which the results came in. A name without a result stays as it is.
    """
    for name, result in results.items():
        text = text.replace(name, result)
    return text


CITIES = "Lisbon Oslo Rome Graz Bern Riga Lyon Turin Split Porto".split()

if __name__ == "__main__":
    results = {f"#E{n}": city for n, city in enumerate(CITIES, 1)}
    print(resolve("Compare the rents of #E1 and #E9.", results))
    print(resolve("Compare the rents of #E1 and #E10.", results))
