"""A process that writes in groups until it is killed, and tells of each acknowledged write.

Run by `test_kill`. A line on standard output, `name revision`, is written after the answer came.
"""

from __future__ import annotations

import asyncio
import os
import sys


async def main(seed: str) -> None:
    from listwatch.store.group_commit import GroupCommitter
    from tests.store.helpers import create, delete, update

    committer = GroupCommitter()
    committer.start()

    async def client(number: int) -> None:
        n = 0
        while True:
            name = f"{seed}-{number}-{n}"
            n += 1
            for make in (create, update, delete):
                if make is create:
                    change = await committer.submit(create(name))
                elif make is update or n % 2:
                    change = await committer.submit(update(name, change.revision, n=n))
                else:
                    change = await committer.submit(delete(name, change.revision))
                # One write a line, so that a kill never leaves half of one.
                os.write(1, f"{name} {change.revision} {change.type}\n".encode())

    await asyncio.gather(*(client(number) for number in range(16)))


if __name__ == "__main__":
    import django

    django.setup()
    asyncio.run(main(sys.argv[1]))
