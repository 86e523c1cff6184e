// Past alerts, on the page and as JSON: each that resolved or happened once, narrowed and page by page.
import { expect, test } from 'vitest';
import type { Transition } from '../../src/core/alert.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { newStore } from '../support/new-folder.ts';
import { alert, exampleFleet, now } from './example-fleet.ts';
import { ask, jsonAt, serve } from './running-server.ts';

/** A server over a store in which something ended. */
async function open() {
  const store = await newStore(now);
  const server = await serve(exampleFleet(), {
    transitions: (limit, before) => store.outbox.recentTransitions(limit, before),
  });
  const record = (...transitions: Transition[]) => store.recordAlerts({ changed: [], dropped: [], transitions });
  const json = (query = '') => jsonAt(server, `/api/past-alerts?${query}`);
  const page = async (path: string) => (await ask(server.url + path, { accept: 'text/html' })).body.toString();
  return { record, json, page, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

const facts = (title: string) => ({ title, sentences: [], numbers: {} });
const down = alert({ rule: 'not_guarded', severity: 'critical', firingAt: now - 3 * hourMs, facts: facts('API down') });
const paused = alert({ rule: 'guard_acted', mailboxId: 'm5', email: 'box5@acme.example', facts: facts('box5 paused') });

test('each comes once', async () => {
  await using stage = await open();
  await stage.record({ kind: 'firing', at: now - 3 * hourMs, alert: down });
  const ended = { ...down, status: 'resolved' as const };
  await stage.record({ kind: 'resolved', at: now - 2 * hourMs, alert: ended });
  await stage.record({ kind: 'event', at: now - minuteMs, alert: paused });
  const { alerts, next_cursor } = await stage.json();
  expect(next_cursor).toBeNull();
  expect(alerts).toMatchObject([
    { rule: 'guard_acted', is_event: true },
    { rule: 'not_guarded', is_event: false },
  ]);
  expect(alerts[1]).toMatchObject({ status: 'resolved', ended_at: new Date(now - 2 * hourMs).toISOString() });
  const text = (await stage.page('/alerts')).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  expect(text).toMatch(/Past alerts .*happened warning box5 paused .*resolved critical API down 2 h ago after 60 min/);
});

test('they are narrowed by severity, rule, account and mailbox', async () => {
  await using stage = await open();
  await stage.record({ kind: 'resolved', at: now, alert: down }, { kind: 'event', at: now, alert: paused });
  const rules = async (query: string) => (await stage.json(query)).alerts.map((one: { rule: string }) => one.rule);
  expect(await rules('severity=critical')).toEqual(['not_guarded']);
  expect(await rules('rule=guard_acted&account=acme')).toEqual(['guard_acted']);
  expect(await rules('account=northwind')).toEqual([]);
  for (const mailbox of ['m5', 'acme/m5', 'box5@acme.example', 'acme/box5@acme.example'])
    expect(await rules(new URLSearchParams({ mailbox }).toString())).toEqual(['guard_acted']);
  expect(await rules('mailbox=m6')).toEqual([]);
});

test('an answer looks through a thousand steps, and says where to go on', async () => {
  await using stage = await open();
  await stage.record({ kind: 'event', at: now - hourMs, alert: paused });
  await stage.record(...Array.from({ length: 1_100 }, () => ({ kind: 'firing' as const, at: now, alert: down })));
  const first = await stage.json();
  expect([first.alerts, typeof first.next_cursor]).toEqual([[], 'string']);
  const second = await stage.json(`cursor=${first.next_cursor}`);
  expect([second.alerts[0]?.rule, second.alerts.length, second.next_cursor]).toEqual(['guard_acted', 1, null]);
  const page = await stage.page('/alerts');
  expect(page).toContain('There are no past alerts yet among the newest.');
  const [, older = ''] = /href="(\/alerts\?before=\d+)#past"/.exec(page) ?? [];
  expect(await stage.page(older)).toContain('box5 paused');
});
