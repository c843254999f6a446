from collections.abc import Callable
from typing import TypeVar

from typing_extensions import TypeVarTuple, Unpack

Arguments = TypeVarTuple("Arguments")
Result = TypeVar("Result")

class Turn:
    what: str
    cure: str
    torn: bool
    def __init__(self, what: str, cure: str) -> None: ...
    def run(self, work: Callable[[Unpack[Arguments]], Result], *arguments: Unpack[Arguments]) -> Result: ...
    def renew(self, work: Callable[[Unpack[Arguments]], Result], *arguments: Unpack[Arguments]) -> Result: ...

def after_fork_in_child() -> None: ...
