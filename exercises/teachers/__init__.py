"""For teachers: slides of the lessons, and the configuration of nbgrader."""
