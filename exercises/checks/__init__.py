"""One module a lesson, `lesson_01` to `lesson_13`: what each exercise is judged by, and its hints."""
