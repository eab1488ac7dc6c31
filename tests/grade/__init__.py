"""How good a plan is: counted by hand, held against networkx, and over data sets."""
