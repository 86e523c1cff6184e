#!/usr/bin/env bash
# One would expect: `30 2 * * *` in Europe/Berlin runs once a night, 365 times in 2026, whichever library reads the line.
# What happens: in the night without 02:30 some run at 03:00, some at 03:30, robfig/cron and gronx not at all. In the night with two of them
# robfig/cron, croniter and APScheduler run twice. So a year has 364, 365 or 366 runs; robfig/cron comes to 365 by one too few and one too many, and
# nobody who counts sees it. A job that bills, counts or sends by the day should ask for the day that it works on, not trust the line.
# Versions: below. Date: 2026-11-28. Source: cron(8) of Debian runs a skipped job soon after and a doubled one once; robfig/cron documents the skip.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent croner@11.0.1 cron-parser@5.10.6 cron@4.4.0 cronosjs@1.7.1 >/dev/null
python3 -m venv py
py/bin/pip install --quiet --disable-pip-version-check croniter==7.0.0 cronsim==2.8 APScheduler==3.11.3 tzdata==2026.6
cat >runs.mjs <<'JS'
import { CronTime } from 'cron';
import { CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
import { CronosExpression } from 'cronosjs';
const [line, tz] = ['30 2 * * *', 'Europe/Berlin'];
const next = {
  'croner 11.0.1': (time) => new Cron(line, { timezone: tz, paused: true }).nextRun(time),
  'cron-parser 5.10.6': (time) => CronExpressionParser.parse(line, { currentDate: time, tz }).next().toDate(),
  'cron 4.4.0': (time) => new CronTime(line, tz).getNextDateFrom(time, tz).toJSDate(),
  'cronosjs 1.7.1': (time) => CronosExpression.parse(line, { timezone: tz }).nextDate(time),
};
for (const name in next) for (let time = new Date('2025-12-31T23:00:00Z'); time.getTime() < Date.parse('2026-12-31T23:00:00Z'); ) {
  time = next[name](time);
  console.log(name, time.toISOString().slice(0, 16));
}
JS
cat >runs.py <<'PY'
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo
from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim
line, zone = '30 2 * * *', ZoneInfo('Europe/Berlin')
start = datetime(2026, 1, 1, tzinfo=zone)
def scheduled(trigger, last=None):
    while True:
        last = trigger.get_next_fire_time(last, last or start)
        yield last
for name, runs in {'croniter 7.0.0': croniter(line, start).all_next(datetime), 'cronsim 2.8': CronSim(line, start),
                   'APScheduler 3.11.3': scheduled(CronTrigger.from_crontab(line, timezone=zone))}.items():
    for run in runs:
        print(name, run.astimezone(timezone.utc).strftime('%Y-%m-%dT%H:%M'))
        if run.year > 2026: break
PY
cat >runs.go <<'GO'
package main
import ("fmt"; "time"; "github.com/adhocore/gronx"; "github.com/robfig/cron/v3")
func main() {
	zone, _ := time.LoadLocation("Europe/Berlin")
	schedule, _ := cron.ParseStandard("30 2 * * *")
	for name, next := range map[string]func(time.Time) time.Time{
		"robfig/cron 3.0.1": schedule.Next,
		"gronx 1.20.4": func(t time.Time) time.Time { t, _ = gronx.NextTickAfter("30 2 * * *", t, false); return t },
	} {
		for t := time.Date(2026, 1, 1, 0, 0, 0, 0, zone); t.Year() < 2027; fmt.Println(name, t.UTC().Format("2006-01-02T15:04")) { t = next(t) }
	}
}
GO
{ go mod init runs; go get github.com/robfig/cron/v3@v3.0.1 github.com/adhocore/gronx@v1.20.4; } 2>/dev/null
{ node runs.mjs; py/bin/python runs.py; go run runs.go; } | grep ' 2026-' | sort >runs
cut -d ' ' -f 1,2 runs | uniq | while read -r name; do
  echo "$name: $(grep -c "^$name" runs) runs; 29 March $(sed -n "s|^$name 2026-03-29T||p" runs | paste -sd' ' | grep . || echo none); 25 October $(sed -n "s|^$name 2026-10-25T||p" runs | paste -sd' ')"
done | tee seen
diff - seen <<'E2'
APScheduler 3.11.3: 366 runs; 29 March 01:30; 25 October 00:30 01:30
cron 4.4.0: 365 runs; 29 March 01:00; 25 October 00:30
cron-parser 5.10.6: 365 runs; 29 March 01:30; 25 October 00:30
croner 11.0.1: 365 runs; 29 March 01:00; 25 October 00:30
croniter 7.0.0: 366 runs; 29 March 01:00; 25 October 00:30 01:30
cronosjs 1.7.1: 365 runs; 29 March 01:00; 25 October 00:30
cronsim 2.8: 365 runs; 29 March 01:00; 25 October 00:30
gronx 1.20.4: 364 runs; 29 March none; 25 October 01:30
robfig/cron 3.0.1: 365 runs; 29 March none; 25 October 00:30 01:30
E2
