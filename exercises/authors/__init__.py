"""For authors of exercises: the sources with all answers, the notebooks made from them, and the texts behind guesses."""
