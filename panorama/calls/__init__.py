"""The one way in: every interface calls operations through `Calls`.

A call is validated, its references are resolved, loops are stopped, a transaction is opened, the answer to an
idempotency key is stored, and the call is logged, whatever its outcome.
"""

from panorama.calls.conversation import Conversation
from panorama.calls.dispatcher import Calls
from panorama.calls.rendering import MODEL, PAGE, SCRIPT, Answer

__all__ = ["MODEL", "PAGE", "SCRIPT", "Answer", "Calls", "Conversation"]
