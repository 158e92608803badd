"""The senses that mind what a call does to work that others rely on, and what the user has asked not to be done.

They feel after a call and, where the host asks, before it; what they tell then is not told again. A call that does
nothing of the kind, in a session in which nothing was forbidden, does not load them.
"""

from insula.step.senses import against_words, at_risk, bypass, delivery

TYPE_CHECKING = False
if TYPE_CHECKING:
    from insula.step.senses.protocol import Minding

MINDING: "tuple[Minding, ...]" = (against_words, at_risk, bypass, delivery)
"""Of several that feel something, the first speaks, before all others."""
