"""The thin layer over the openai client. Each file can be imported alone.

`asking` asks a model, `answer` reads what the endpoint sends, `prompt_text` writes and shortens text for prompts, `schemas`
describes plans and tools to a model, `prices` computes what calls cost.
"""
