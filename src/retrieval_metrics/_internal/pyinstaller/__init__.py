"""The PyInstaller hook of the package; PyInstaller follows imports, but not the stubs that list the lazy ones."""

from pathlib import Path


def hook_folders() -> list[str]:
    """Return the folder that holds the hook; PyInstaller finds this function through an entry point."""
    return [str(Path(__file__).parent)]
