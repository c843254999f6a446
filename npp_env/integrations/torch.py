"""`Decode`: a torch module that turns state rows into observations, in front of any network."""

from __future__ import annotations

from typing import Any

import numpy as np

from npp_env.errors import StateError, requires
from npp_env.rollouts.decoder import DecodedBatch, ObservationDecoder

with requires("PyTorch", __name__, "pip install torch"):
    import torch


class Decode(torch.nn.Module):
    """Observations of state rows as tensors; has no parameters and lets no gradient through.

    Float keys become `dtype`; frames and masks stay uint8; `graph_edge_index` becomes int64, as graph layers want it.
    The tensors are fresh ones, on the device of the states; the arrays that they are converted from are reused.

    Args:
        decoder: What decodes.
        dtype: Type of the float keys; None keeps their float16.

    Example:
        >>> decoder = ObservationDecoder({"levels": "shipped:first_steps"})  # doctest: +SKIP
        >>> network = torch.nn.ModuleDict({"decode": Decode(decoder), "policy": ...})  # doctest: +SKIP
    """

    def __init__(self, decoder: ObservationDecoder, dtype: torch.dtype | None = torch.float32) -> None:
        super().__init__()
        self.decoder = decoder
        self.dtype = dtype
        self._batch: DecodedBatch | None = None

    def forward(self, states: torch.Tensor) -> dict[str, torch.Tensor]:
        """Decode states.

        Args:
            states: (..., row_bytes), uint8, or of a float type with the same whole numbers.

        Raises:
            StateError: What `ObservationDecoder.decode` raises, or numbers that are no bytes.
        """
        rows = states.detach()
        if rows.dtype != torch.uint8:
            as_bytes = rows.to(torch.uint8)
            if not bool((as_bytes == rows).all()):
                raise StateError(
                    f"the states ({rows.dtype}) do not hold whole numbers from 0 to 255; do not normalise them"
                )
            rows = as_bytes
        array = rows.cpu().contiguous().numpy()
        count = int(np.prod(array.shape[:-1], dtype=np.int64))
        if self._batch is None or self._batch.count < count:
            self._batch = self.decoder.allocate(max(count, 1))
        self.decoder.decode(array, out=self._batch)
        lead = array.shape[:-1]
        return {key: self._tensor(values[:count], lead, states.device) for key, values in self._batch.arrays().items()}

    def _tensor(self, values: Any, lead: tuple[int, ...], device: torch.device) -> torch.Tensor:
        shape = (*lead, *values.shape[1:])
        if values.dtype == np.uint16:
            # Few operations know unsigned 16-bit tensors: read as signed, and undo the sign.
            return (torch.from_numpy(values.view(np.int16)).to(device, torch.int64) & 0xFFFF).reshape(shape)
        tensor = torch.from_numpy(values)
        if values.dtype == np.float16 and self.dtype is not None:
            return tensor.to(device, self.dtype, copy=True).reshape(shape)
        return tensor.to(device, copy=True).reshape(shape)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_batch": None}
