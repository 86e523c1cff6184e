// A storm on a large fleet: 10,000 mailboxes, 100 live pages, 1,000 changes. Every page ends with the same picture, none is
// cut, each view stays small, what one reader gets does not grow with the fleet, and the heap does not grow with the changes.
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { usualLimits } from '../../src/web/live/live-stream.ts';
import { account, alert, mailbox, now, verdict } from './example-fleet.ts';
import { ask, serve } from './running-server.ts';

const mailboxes = 10_000;
const readers = 100;
const changes = 1_000;
const maxPageBytes = 150 * 1024;

function largeFleet(): Fleet {
  const fleet = new Fleet();
  for (const name of ['acme', 'northwind']) fleet.putAccount(account(name));
  for (let index = 0; index < mailboxes; index += 1) {
    const name = index % 2 === 0 ? 'acme' : 'northwind';
    fleet.putMailbox(mailbox(`m${index}`, `box${index}@domain${index % 500}.example`, { account: name }));
  }
  return fleet;
}

/** What a reader has heard: how many bytes, and the newest number of rows that are held. */
function listen(url: string) {
  const heard = { bytes: 0, held: 0, ended: false };
  const request = get(url, (response: IncomingMessage) => {
    response.setEncoding('utf8').on('data', (chunk: string) => {
      heard.bytes += chunk.length;
      for (const [, count] of chunk.matchAll(/Held <b>([\d,]+)<\/b>/g)) heard.held = Number(count?.replace(',', ''));
    });
    response.on('close', () => {
      heard.ended = true;
    });
  });
  return { heard, end: () => request.destroy() };
}

test('a storm of 1,000 changes on 10,000 mailboxes reaches 100 live pages, in few bytes', async () => {
  const fleet = largeFleet();
  await using server = await serve(fleet);
  const all = Array.from({ length: readers }, () => listen(`${server.url}/events?at=/`));
  await expect.poll(() => all.every(({ heard }) => heard.bytes > 0)).toBe(true);
  await sleep(2_000);
  const before = all.map(({ heard }) => heard.bytes);
  const answer = verdict({ action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 50, bounced: 20 });
  for (let index = 0; index < changes; index += 1) {
    fleet.putMailbox(
      mailbox(`m${index * 2}`, `box${index * 2}@domain${(index * 2) % 500}.example`, { verdict: { at: now, answer } }),
    );
    fleet.putAlert(alert({ rule: 'bounce_over_limit', severity: 'critical', mailboxId: `m${index * 2}` }));
    if (index % 100 === 99) await sleep(500);
  }
  await expect.poll(() => all.every(({ heard }) => heard.held === changes)).toBe(true);
  const most = Math.max(...all.map(({ heard }, index) => heard.bytes - (before[index] ?? 0)));
  expect(all.filter(({ heard }) => heard.ended)).toEqual([]);
  // Fifty rows a page and ten looks: not a row a change, and not the fleet.
  expect(most).toBeLessThan(12 * maxPageBytes);
  for (const path of [
    '/',
    '/?sort=address',
    '/groups?by=domain',
    '/alerts',
    '/activity',
    '/budget',
    '/mailboxes/acme/m0',
  ]) {
    const page = await ask(server.url + path, { accept: 'text/html' });
    expect(page.body.length).toBeLessThan(maxPageBytes);
  }
  for (const { end } of all) end();
});

/** Bytes in use after a collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

test('the heap is no larger after 24 rounds of changes than after 16', async () => {
  const fleet = largeFleet();
  const limits = { ...usualLimits, tickMs: 20 };
  await using server = await serve(fleet, { liveLimits: limits });
  const addresses = ['/', '/?sort=rate', '/groups?by=domain', '/alerts', '/budget', '/mailboxes/acme/m0'];
  const all = Array.from({ length: readers }, (_, index) =>
    listen(`${server.url}/events?at=${encodeURIComponent(addresses[index % addresses.length] ?? '/')}`),
  );
  await expect.poll(() => all.every(({ heard }) => heard.bytes > 0)).toBe(true);
  const answer = verdict({ action: 'hold', wanted: 'pause', reason: 'circuit_breaker', sent: 50, bounced: 20 });
  const round = async (number: number) => {
    // Every second round takes back half of what the one before did: the fleet is the same after each pair.
    const held = number % 2 === 0 ? 100 : 50;
    for (let index = 0; index < 100; index += 1) {
      const changed = index < held ? { verdict: { at: now, answer } } : {};
      fleet.putMailbox(mailbox(`m${index * 2}`, `box${index * 2}@domain${(index * 2) % 500}.example`, changed));
    }
    await expect.poll(() => all.every(({ heard }, at) => at % addresses.length > 1 || heard.held === held)).toBe(true);
  };
  const heapAfter = async (from: number) => {
    for (let number = from; number < from + 8; number += 1) await round(number);
    return heapBytes();
  };
  // What is compiled and remembered once comes first.
  await heapAfter(0);
  const before = await heapAfter(8);
  const after = await heapAfter(16);
  expect(after / before).toBeLessThan(1.05);
  for (const { end } of all) end();
});
