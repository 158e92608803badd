"""The senses for any agent: what it did goes in, and now and then one sentence for its model comes out.

```python
from insula import senses

state = None
for call in my_agent:
    action = senses.action(call.name, call.arguments, call.result)
    state, note = senses.feel(state, action)
    if note:
        call.result += "\n\n" + note.text
```

Pure functions of values: nothing is stored, nothing is asked, and the same actions give the same notes. A state is a
value; `dump` and `load` turn it into JSON and back, so that a session goes on in another process.
"""

from insula.coding.step.action import Action
from insula.coding.step.proprioception import hear_user as hear
from insula.coding.step.state import State
from insula.coding.step.state import dump_state as dump
from insula.coding.step.state import load_state as load
from insula.senses.feeling import Felt, Note, action, feel, feel_messages

__all__ = ["Action", "Felt", "Note", "State", "action", "dump", "feel", "feel_messages", "hear", "load"]
