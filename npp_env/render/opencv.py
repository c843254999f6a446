"""OpenCV, which draws the pictures for people."""

from __future__ import annotations

from typing import Any

from npp_env.errors import MissingDependencyError


def load_cv2() -> Any:
    """The module cv2.

    Raises:
        MissingDependencyError: It is not there, or lacks a library of the system, such as libGL on a server.
    """
    try:
        import cv2
    except ImportError as error:
        raise MissingDependencyError(
            f"pictures need OpenCV, which cannot be imported ({error}); on a machine without a display "
            f"`pip install --force-reinstall opencv-python-headless` does"
        ) from error
    return cv2
