"""A small shop on the web. Its users log in."""
