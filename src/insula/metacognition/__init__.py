"""The one object a host holds: memory, identity, recall and the loops that watch and steer them (K9).

```python
async with await Metacognition.open("insula.db") as metacognition:
    async with metacognition.turn("ana", "monday", "Where do I live?") as turn:
        answer = await my_agent(turn.prompt, system=turn.instructions)
        answer = turn.finish(answer).response
```
"""

from insula.metacognition.engine import Assess, Estimate, Subscriber
from insula.metacognition.facade import Metacognition, warm_up
from insula.metacognition.outcome import TurnResult
from insula.metacognition.reading import RECENT_RESPONSES, record_recalled
from insula.metacognition.sync import Blocking
from insula.metacognition.turn import Turn
from insula.session.regulator import Regulator

__all__ = [
    "RECENT_RESPONSES",
    "Assess",
    "Blocking",
    "Estimate",
    "Metacognition",
    "Regulator",
    "Subscriber",
    "Turn",
    "TurnResult",
    "record_recalled",
    "warm_up",
]
