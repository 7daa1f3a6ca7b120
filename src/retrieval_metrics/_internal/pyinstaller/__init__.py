"""What PyInstaller has to know, which reads imports and not the stubs that name them here."""

from pathlib import Path


def hook_folders() -> list[str]:
    """Return the folder of the hook; PyInstaller asks through an entry point."""
    return [str(Path(__file__).parent)]
