#!/usr/bin/env bash
# nbgrader 0.9.6, seen on 2026-11-28.
#
# nbgrader writes the time of a submission by its option Exchange.timezone and reads it again with
# parse_utc. The guess was that it reads its own writing. With "America/Sao_Paulo" the time comes
# back 2 hours 59 minutes 57 seconds early, and with "Asia/Kolkata" 5 hours 30 minutes late. So a
# submission that is in time can be late, and the other way round.
#
# The default format ends in %Z. For zones without an abbreviation of letters that is "-03", which
# is taken as -3 seconds, not hours. An abbreviation that is not also the name of a file of zones is
# unknown, and the time is then taken as UTC: IST here, and CEST or EDT in summer, while CET and EST
# are names of files.
#
# Behind each zone is the number of seconds by which a time is read too late.
#
# Output seen:
#   UTC: written as UTC, 0
#   America/Sao_Paulo: written as -03, -10797
#   Asia/Kolkata: written as IST, 19800
#   2026-07-01 12:00:00 CEST is read as 12:00:00 UTC
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/python -m pip install --quiet --disable-pip-version-check nbgrader==0.9.6

cat > times.py <<'PY'
from datetime import UTC, datetime

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.abc.exchange import Exchange
from nbgrader.utils import parse_utc


class Writer(Exchange):
    def start(self):
        self.set_timestamp()


for zone in ("UTC", "America/Sao_Paulo", "Asia/Kolkata"):
    writer = Writer(coursedir=CourseDirectory())
    writer.timezone = zone
    before = datetime.now(UTC).replace(tzinfo=None)
    writer.start()
    late = (parse_utc(writer.timestamp) - before).total_seconds()
    print(f"{zone}: written as {writer.timestamp.split()[-1]}, {round(late)}")
print(f"2026-07-01 12:00:00 CEST is read as {parse_utc('2026-07-01 12:00:00 CEST'):%H:%M:%S} UTC")
PY
env/bin/python times.py > out.txt
cat out.txt
diff out.txt - <<'SEEN'
UTC: written as UTC, 0
America/Sao_Paulo: written as -03, -10797
Asia/Kolkata: written as IST, 19800
2026-07-01 12:00:00 CEST is read as 12:00:00 UTC
SEEN
