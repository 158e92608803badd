from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__file__: str

class USE:
    def __init__(self, threads: int = ...) -> None: ...
    def encode(self, texts: str | Sequence[str]) -> npt.NDArray[np.float32]: ...
