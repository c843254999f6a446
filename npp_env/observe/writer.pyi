from collections.abc import Sequence

from npp_env.observe.spec import ObservationRow

WRITERS: dict[str, tuple[int, int]]

def find_writers(table: Sequence[ObservationRow]) -> None: ...
