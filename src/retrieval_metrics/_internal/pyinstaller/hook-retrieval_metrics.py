"""Tell PyInstaller to put every module and every data file of the package into a frozen program."""  # noqa: N999 -- PyInstaller's name

from pathlib import Path

PACKAGE = Path(__file__).parent.parent.parent

hiddenimports = [
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
    for path in PACKAGE.rglob("*.py")
    if path != Path(__file__)
]
datas = [
    (str(path), str(path.parent.relative_to(PACKAGE.parent)))
    for path in PACKAGE.rglob("*")
    if path.is_file() and path.suffix not in {".py", ".pyc"}
]
