"""`python -m listwatch.informer.three_ways`: measure in a process of its own, a record a line.

Reads `{"server", "token", "ca", "options": {...}}` from its standard input, so that no secret
stands in a list of processes. Ends with status 1 and a line `{"error": ...}` if the server refuses.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from dataclasses import asdict

from listwatch.informer.client_config import ClientConfig
from listwatch.informer.errors import ApiError, TransportError
from listwatch.informer.three_ways import Options, measure


async def main() -> int:
    """Measure, and print a record as soon as there is one; SIGTERM lets it clear up first."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    wish = json.load(sys.stdin)
    config = ClientConfig(wish["server"], token=wish["token"], ca=wish["ca"])
    try:
        async for record in measure(config, Options(**wish["options"])):
            print(json.dumps(asdict(record)), flush=True)
    except (ApiError, TransportError, ValueError) as error:
        print(json.dumps({"error": str(error)}), flush=True)
        return 1
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
