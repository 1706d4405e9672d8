"""The one way in: every door calls an operation through `Calls`.

A call is validated, its references are resolved, loops are stopped, its transaction is opened, its first answer is kept
for a repeated key, and it is logged, however it ends.
"""

from panorama.calls.conversation import Conversation
from panorama.calls.dispatcher import Calls
from panorama.calls.rendering import MODEL, SCRIPT, Answer

__all__ = ["MODEL", "SCRIPT", "Answer", "Calls", "Conversation"]
