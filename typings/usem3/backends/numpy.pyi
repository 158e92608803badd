import numpy as np
import numpy.typing as npt

Weights = npt.NDArray[np.float32]

class NumpyBackend:
    table: npt.NDArray[np.uint8]
    scale: Weights
    lo: Weights
    proj_W: Weights
    proj_b: Weights
    ln_g_all: Weights
    ln_b_all: Weights
    w1: list[Weights]
    b1: list[Weights]
    w2: list[Weights]
    b2: list[Weights]
    ln_g: Weights
    ln_b: Weights
    cnn_W: Weights
    cnn_b: Weights
    d0: Weights
    d1: Weights
    d2: Weights
    d3: Weights
    p1: Weights
    p3: Weights
    eps: float
    def __init__(self, weights_path: str, sp_processor: object, threads: int = ...) -> None: ...
