RESULTS = {1: "Lisbon", 2: "May", 5: "a hotel", 12: "rain"}


def test_a_price_stays_a_price(program):
    for text in ("lunch for $5", "$5, or $12.50", "$1,200 a month", "US$2", "{budget: $5}"):
        resolved = program.resolve(text, RESULTS)
        assert resolved == text, f"resolve({text!r}) gave {resolved!r}: a price is no reference"


def test_a_reference_gets_its_result(program):
    resolved = program.resolve("${1} in ${2}: ${5}? ${12}.${1}", RESULTS)
    assert resolved == "Lisbon in May: a hotel? rain.Lisbon", f"five references; it gave {resolved!r}"


def test_a_text_can_contain_both(program):
    resolved = program.resolve("Is ${5} in ${1} below $5 a night? $5${5}", RESULTS)
    wanted = "Is a hotel in Lisbon below $5 a night? $5a hotel"
    assert resolved == wanted, (
        f"a reference to step 5 and a price of 5 dollars; it gave {resolved!r}, wanted {wanted!r}"
    )


def test_a_reference_without_a_result_stays(program):
    resolved = program.resolve("${7} and ${1}", RESULTS)
    assert resolved == "${7} and Lisbon", f"step 7 has no result; it gave {resolved!r}"
