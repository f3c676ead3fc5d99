"""Jobs and cron jobs: work that ends, once or by the clock.

`controller` runs jobs, `accounting` counts how pods ended without losing one, `cron` reads
schedules, `cron_jobs` keeps them, `finished` removes what ended long ago.
"""

from __future__ import annotations
