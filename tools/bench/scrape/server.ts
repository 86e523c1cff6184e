// One side of the scrape benchmark, in a process of its own: our route, or prom-client behind node:http, on the same fleet.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { Gauge, Registry } from 'prom-client';
import type { MailboxState } from '../../../src/core/mailbox.ts';
import { defaultPolicy } from '../../../src/core/policy.ts';
import { infoGauge, infoLabels, mailboxGauges, mailboxValues } from '../../../src/metrics/mailbox-series.ts';
import { addMetrics, createMetrics } from '../../../src/metrics/metrics.ts';
import { worldOn } from '../../../src/world/world.ts';
import { now } from '../../../test/web/example-fleet.ts';
import { movedClock } from '../../simulator/moved-clock.ts';
import { benchFleet } from './fleet.ts';
import type { Measured, Order } from './orders.ts';

const [side, size] = [process.argv[2], Number(process.argv[3])];
const { fleet, nextChange, nextScattered } = benchFleet(size);

interface Side {
  readonly port: number;
  /** What a poll brought. */
  put(mailbox: MailboxState): void;
}

/** The daemon's own route and metrics. */
async function ours(): Promise<Side> {
  const world = worldOn(movedClock(now), { level: 'silent', format: 'json' });
  const settings = {
    policyOf: () => defaultPolicy,
    mailboxLabel: 'email',
    enforcing: () => true,
    tagsOf: () => [],
  } as const;
  const metrics = createMetrics({ fleet, version: '0.0.0', world, settings });
  const app = new Hono();
  addMetrics(app, metrics, { isReady: () => true, partOf: () => null });
  const server = createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false, createServer });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, put: (mailbox) => fleet.putMailbox(mailbox) };
}

/** The same samples as prom-client's gauges, set when a poll brings them, and compressed as its users do. */
async function promClient(): Promise<Side> {
  const registry = new Registry();
  const extra = ['mailbox_id', 'domain', 'provider', 'status', 'mode', 'state', 'record', 'route'];
  const labelNames = ['account', 'mailbox', ...extra];
  const series = mailboxGauges.flatMap((one) => {
    const gauge = new Gauge({ name: one.name, help: one.help, labelNames, registers: [registry] });
    return one.series.map(({ labels }) => ({ gauge, labels, isInfo: one === infoGauge }));
  });
  const put = (mailbox: MailboxState) => {
    const identity = { account: mailbox.account, mailbox: mailbox.email };
    const info = infoLabels(mailbox);
    for (const [index, value] of mailboxValues(mailbox, 'ok', now).entries()) {
      const { gauge, labels, isInfo } = series[index] ?? never();
      const own = { ...identity, ...(isInfo ? info : labels) };
      if (!Number.isNaN(value)) gauge.set(own as Record<string, string>, value);
    }
  };
  for (const mailbox of fleet.mailboxes()) put(mailbox);
  const zip = promisify(gzip);
  const server = createServer(async (request, response) => {
    const text = await registry.metrics();
    const zipped = request.headers['accept-encoding'] === 'gzip';
    response.setHeader('Content-Type', registry.contentType);
    if (zipped) response.setHeader('Content-Encoding', 'gzip');
    response.end(zipped ? await zip(text) : text);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, put };
}

const { port, put } = await (side === 'ours' ? ours() : promClient());
let cpu = process.cpuUsage();
let lookedAt = process.threadCpuUsage();
let longestMs = 0;
// The loop is looked at every millisecond. The longest work between two looks is what others had to wait for; it is
// measured in CPU time, because what other processes take from this one is no fault of the scrape.
const look = () => {
  const { user, system } = process.threadCpuUsage(lookedAt);
  longestMs = Math.max(longestMs, (user + system) / 1_000);
  lookedAt = process.threadCpuUsage();
};
setInterval(look, 1);

function measured(): Measured {
  const used = process.cpuUsage(cpu);
  look();
  const cpuMs = (used.user + used.system) / 1_000;
  return { cpuMs, blockMs: longestMs, peakMb: process.resourceUsage().maxRSS / 1_024 };
}

function take(change: readonly MailboxState[]): undefined {
  cpu = process.cpuUsage();
  for (const mailbox of change) put(mailbox);
}

const answers: Readonly<Record<Order, () => Measured | undefined>> = {
  change: () => take(nextChange()),
  scatter: () => take(nextScattered()),
  watch() {
    look();
    longestMs = 0;
    return undefined;
  },
  tell: measured,
};
process.on('message', (order: Order) => process.send?.(answers[order]() ?? 'done'));
process.on('disconnect', () => process.exit(0));
process.send?.(port);

function never(): never {
  throw new Error('there are more values than series');
}
