"""`pip install` gets a wheel with everything in it, and a stranger's program works with it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_has_every_module(tmp_path: Path) -> None:
    # A copy: a build writes beside its sources.
    copy = tmp_path / "python"
    kept_out = shutil.ignore_patterns("__pycache__", "*.egg-info", "build", "tests")
    shutil.copytree(HERE, copy, ignore=kept_out)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    # With the setuptools that is here: nothing is asked of a registry.
    quiet = ["--no-build-isolation", "--no-deps", "--no-index"]
    _run(*pip, "wheel", *quiet, "-w", str(tmp_path / "wheels"), str(copy))
    (wheel,) = (tmp_path / "wheels").iterdir()
    names = set(zipfile.ZipFile(wheel).namelist())
    sources = {
        str(path.relative_to(HERE / "src"))
        for path in (HERE / "src" / "upcurve").rglob("*")
        if path.suffix == ".py" or path.name == "py.typed"
    }
    assert len(sources) > 25 and sources <= names
    assert all(name in sources or ".dist-info/" in name for name in names)

    target = tmp_path / "installed"
    _run(*pip, "install", *quiet, "--target", str(target), str(wheel))
    code = f"import sys; sys.path.insert(0, {str(target)!r}); import upcurve, upcurve.sync; print(upcurve.__file__)"
    assert str(target) in _run(sys.executable, "-I", "-c", code)
