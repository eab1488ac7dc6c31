"""One module a lesson, `lesson_01` to `lesson_10`: what each exercise is judged by, and its hints."""
