"""The child process that embeds many texts with the static table.

It reads requests from the socket on its standard input, answers each, and ends with its parent, or when idle.
"""

import os
import signal
import socket
from collections.abc import Mapping
from typing import Any

from panorama.index.embedders.static import StaticEmbedder
from panorama.index.frames import Frame, FrameStream
from panorama.thread_priority import lower_thread_priority

IDLE_SECONDS = 30.0


def main() -> None:
    """Answer requests until the other end is closed, or it is idle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the whole group; the parent decides
    lower_thread_priority()
    model = StaticEmbedder()
    with socket.socket(fileno=0) as stream:
        frames = FrameStream(stream)
        while True:
            try:
                request = frames.receive(IDLE_SECONDS).head
                frame = _handle_request(model, request)
                frames.send(Frame({**frame.head, "number": request["number"]}, frame.tail))
            except OSError:  # also when idle
                os._exit(0)


def _handle_request(model: StaticEmbedder, request: Mapping[str, Any]) -> Frame:
    try:
        if request["do"] == "embed":
            return Frame({}, model.embed_documents(request["texts"]).astype("<f4").tobytes())
        model.load()
        return Frame({})
    except Exception as error:  # the error is returned, and the parent embeds the texts
        return Frame({"error": f"{error}" or type(error).__name__})


if __name__ == "__main__":
    main()
