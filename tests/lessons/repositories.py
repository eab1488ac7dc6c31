"""Git repositories of this machine that stand for the one on GitHub."""

import os
import subprocess
from pathlib import Path


def published(folder: Path) -> str:
    """Make the files of a folder a repository, on the branch main, and return its address."""
    nothing = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}  # of this user's settings
    who = ["-c", "user.name=kit", "-c", "user.email=kit@localhost"]
    for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "the kit"]):
        subprocess.run(
            ["git", *who, *command], cwd=folder, env=os.environ | nothing, check=True, stdout=subprocess.DEVNULL
        )
    return folder.as_uri()
