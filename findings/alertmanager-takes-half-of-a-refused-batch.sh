#!/usr/bin/env bash
# One would expect: when POST /api/v2/alerts answers 400, nothing of the request was taken, as with most APIs that check a whole body first.
# What happens: the alerts that are in order are stored and notified, and 400 names only the others, without saying which. A client that sends the
# batch again without the bad alert, or drops it as refused, is wrong about the rest. An alert without endsAt whose startsAt is more than the resolve
# timeout ahead, for example by a clock that is fast, is such a bad one: "start time must be before end time".
# Versions: prometheus-alertmanager 0.25.0-1+b4 (Debian 12). Date: 2026-11-28. Source: the OpenAPI document of the API gives 400 no meaning.
set -euo pipefail
dir=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$dir"' EXIT
cd "$dir"
apt-get download -q -o APT::Sandbox::User=root prometheus-alertmanager=0.25.0-1+b4 >/dev/null
dpkg-deb -x ./*.deb root
printf 'route: {receiver: nobody}\nreceivers: [{name: nobody}]\n' >config.yml
root/usr/bin/prometheus-alertmanager --config.file=config.yml --storage.path=data --cluster.listen-address= \
  --web.listen-address=127.0.0.1:29093 2>log & server=$!
curl --silent --fail --retry 50 --retry-delay 1 --retry-connrefused 127.0.0.1:29093/-/ready >/dev/null
{
  root/usr/bin/prometheus-alertmanager --version 2>&1 | sed -n 's/^alertmanager, version \([^ ]*\).*/alertmanager \1/p'
  curl --silent --write-out '%{http_code}\n' --header 'content-type: application/json' 127.0.0.1:29093/api/v2/alerts --data '[
    {"labels": {"alertname": "in-order"}},
    {"labels": {"alertname": "ahead"}, "startsAt": "2099-01-01T00:00:00Z"}]'
  curl --silent 127.0.0.1:29093/api/v2/alerts | grep -o '"alertname":"[^"]*"'
} | tee seen
diff - seen <<'E2'
alertmanager 0.25.0
"start time must be before end time"
400
"alertname":"in-order"
E2
