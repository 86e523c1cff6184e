#!/usr/bin/env bash
# One would expect: with a day of the month and a day of the week, a line of cron runs on days that match either; so `0 9 */2 * 1` on odd days and on
# Mondays, and `0 9 1-7 * 1` on the first seven days and on Mondays.
# What happens: cron itself, and cronsim and gronx after it, take a field that begins with `*` for "any", also `*/2`: then both fields must match, and
# the first line means odd Mondays. Others look for a bare `*` alone. APScheduler always wants both, and its 1 is Tuesday: so its third answer
# to both lines. No library complains.
# Versions: below. Date: 2026-11-28. Source: crontab(5) calls a field restricted that has no `*` in it; APScheduler documents its week from Monday.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent croner@11.0.1 cron-parser@5.10.6 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check croniter==7.0.0 cronsim==2.8 APScheduler==3.11.3
cat >days.mjs <<'JS'
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
const days = (next) => {
  const found = [];
  for (let time = next(new Date('2026-03-01T00:00:00Z')); time.getUTCMonth() === 2; time = next(time)) found.push(time.getUTCDate());
  return found.join(' ');
};
for (const line of ['0 9 */2 * 1', '0 9 1-7 * 1']) {
  console.log(`${line} croner 11.0.1: ${days((time) => new Cron(line, { timezone: 'UTC', paused: true }).nextRun(time))}`);
  console.log(`${line} cron-parser 5.10.6: ${days((time) => CronExpressionParser.parse(line, { currentDate: time, tz: 'UTC' }).next().toDate())}`);
}
JS
cat >days.py <<'PY'
from datetime import datetime, timezone
from itertools import takewhile
from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim
start = datetime(2026, 3, 1, tzinfo=timezone.utc)
def scheduled(trigger, last=None):
    while True:
        last = trigger.get_next_fire_time(last, last or start)
        yield last
for line in ['0 9 */2 * 1', '0 9 1-7 * 1']:
    for name, runs in {'croniter 7.0.0': croniter(line, start).all_next(datetime), 'cronsim 2.8': CronSim(line, start),
                       'APScheduler 3.11.3': scheduled(CronTrigger.from_crontab(line, timezone=timezone.utc))}.items():
        print(f'{line} {name}:', *(run.day for run in takewhile(lambda run: run.month == 3, runs)))
PY
cat >days.go <<'GO'
package main
import ("fmt"; "time"; "github.com/adhocore/gronx"; "github.com/robfig/cron/v3")
func main() {
	for _, line := range []string{"0 9 */2 * 1", "0 9 1-7 * 1"} {
		schedule, _ := cron.ParseStandard(line)
		for name, next := range map[string]func(time.Time) time.Time{
			"robfig/cron 3.0.1": schedule.Next,
			"gronx 1.20.4": func(t time.Time) time.Time { t, _ = gronx.NextTickAfter(line, t, false); return t },
		} {
			found := line + " " + name + ":"
			for t := next(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)); t.Month() == 3; t = next(t) { found += fmt.Sprint(" ", t.Day()) }
			fmt.Println(found)
		}
	}
}
GO
{ go mod init days; go get github.com/robfig/cron/v3@v3.0.1 github.com/adhocore/gronx@v1.20.4; } 2>/dev/null
{ node days.mjs; py/bin/python days.py; go run days.go; } | sort | tee seen
diff - seen <<'E2'
0 9 */2 * 1 APScheduler 3.11.3: 3 17 31
0 9 */2 * 1 cron-parser 5.10.6: 1 2 3 5 7 9 11 13 15 16 17 19 21 23 25 27 29 30 31
0 9 */2 * 1 croner 11.0.1: 1 2 3 5 7 9 11 13 15 16 17 19 21 23 25 27 29 30 31
0 9 */2 * 1 croniter 7.0.0: 1 2 3 5 7 9 11 13 15 16 17 19 21 23 25 27 29 30 31
0 9 */2 * 1 cronsim 2.8: 9 23
0 9 */2 * 1 gronx 1.20.4: 9 23
0 9 */2 * 1 robfig/cron 3.0.1: 1 2 3 5 7 9 11 13 15 16 17 19 21 23 25 27 29 30 31
0 9 1-7 * 1 APScheduler 3.11.3: 3
0 9 1-7 * 1 cron-parser 5.10.6: 1 2 3 4 5 6 7 9 16 23 30
0 9 1-7 * 1 croner 11.0.1: 1 2 3 4 5 6 7 9 16 23 30
0 9 1-7 * 1 croniter 7.0.0: 1 2 3 4 5 6 7 9 16 23 30
0 9 1-7 * 1 cronsim 2.8: 1 2 3 4 5 6 7 9 16 23 30
0 9 1-7 * 1 gronx 1.20.4: 1 2 3 4 5 6 7 9 16 23 30
0 9 1-7 * 1 robfig/cron 3.0.1: 1 2 3 4 5 6 7 9 16 23 30
E2
