// Past alerts, on the page and as JSON: each that resolved or happened once, with the messages about it, narrowed and page by page.
import { mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { Alert, Transition } from '../../src/core/alert.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { alert, exampleFleet, now } from './example-fleet.ts';
import { ask, serve } from './running-server.ts';

/** A server over a store in which something ended. */
async function open() {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'warmwarden-past-'));
  const store = await Store.open(join(folder.path, 'w.db'), now);
  const fleet = exampleFleet();
  const server = await serve(fleet, {
    transitions: (limit, before) => store.outbox.recentTransitions(limit, before),
    deliveries: (limit, before) => store.outbox.recentDeliveries(limit, before),
  });
  const record = (...transitions: Transition[]) => store.recordAlerts({ changed: [], dropped: [], transitions });
  const send = (id: string, about: Alert | readonly Alert[], at: number) => {
    const alerts = [about].flat().map(({ fingerprint }) => fingerprint);
    const one = { id, channel: 'ops', group: 'g', payload: '{}', title: id, alerts };
    return store.outbox.recordDeliveries({ transitionIds: [], deliveries: [one], now: at });
  };
  const json = async (query = '') => JSON.parse((await ask(`${server.url}/api/past-alerts?${query}`)).body.toString());
  const page = async (path: string) => (await ask(server.url + path, { accept: 'text/html' })).body.toString();
  const close = async () => {
    await server[Symbol.asyncDispose]();
    await store.close();
    folder.remove();
  };
  return { fleet, record, send, json, page, [Symbol.asyncDispose]: close };
}

const facts = (title: string) => ({ title, sentences: [], numbers: {} });
const down = alert({ rule: 'not_guarded', severity: 'critical', firingAt: now - 3 * hourMs, facts: facts('API down') });
const paused = alert({ rule: 'guard_acted', mailboxId: 'm5', email: 'box5@acme.example', facts: facts('box5 paused') });

test('each comes once, with the messages from its beginning to an hour after its end', async () => {
  await using stage = await open();
  await stage.send('an outage before', down, now - 5 * hourMs);
  await stage.record({ kind: 'firing', at: now - 3 * hourMs, alert: down });
  await stage.send('began', down, now - 3 * hourMs + minuteMs);
  await stage.send('of another', paused, now - 2 * hourMs);
  const ended = { ...down, status: 'resolved' as const };
  await stage.record({ kind: 'resolved', at: now - 2 * hourMs, alert: ended });
  await stage.send('ended', down, now - 2 * hourMs + minuteMs);
  await stage.send('an outage after', down, now - minuteMs);
  await stage.record({ kind: 'event', at: now - minuteMs, alert: paused });
  const { alerts, next_cursor } = await stage.json();
  expect(next_cursor).toBeNull();
  const told = alerts.map((one: { rule: string; is_event: boolean; messages: { id: string }[] }) => [
    ...[one.rule, one.is_event],
    one.messages.map(({ id }) => id),
  ]);
  expect(told).toEqual([
    ['guard_acted', true, []],
    ['not_guarded', false, ['ended', 'began']],
  ]);
  expect(alerts[1]).toMatchObject({ status: 'resolved', ended_at: new Date(now - 2 * hourMs).toISOString() });
  const text = (await stage.page('/alerts')).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  expect(text).toMatch(/Past alerts .*happened warning box5 paused .*resolved critical API down 2 h ago after 60 min/);
});

test('its messages are found however many came since, of what is over and of what still fires', async () => {
  await using stage = await open();
  const weekMs = 168 * hourMs;
  const firingAt = now - weekMs;
  const long = alert({
    rule: 'dns_failing',
    object: 'x.example',
    since: firingAt,
    firingAt,
    facts: facts('DNS fails'),
  });
  const still = alert({ rule: 'budget_too_small', since: firingAt, firingAt, facts: facts('key shared') });
  stage.fleet.putAlert(still);
  await stage.send('began', long, firingAt + minuteMs);
  await stage.send('still', still, firingAt + minuteMs);
  for (let index = 0; index < 310; index += 1) await stage.send(`day ${index}`, paused, now - 90 * hourMs + index);
  await stage.send('ended', long, now - 80 * hourMs);
  await stage.record({ kind: 'resolved', at: now - 80 * hourMs - minuteMs, alert: { ...long, status: 'resolved' } });
  for (let index = 0; index < 310; index += 1) await stage.send(`since ${index}`, paused, now - hourMs + index);
  const { alerts } = await stage.json();
  expect(alerts[0].messages.map(({ id }: { id: string }) => id)).toEqual(['ended', 'began']);
  const text = (await stage.page('/alerts?rule=budget_too_small')).replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');
  expect(text).toMatch(/key shared for 7 days budget_too_small waiting ops 7 days ago/);
  expect(text).not.toContain('has no record of a message');
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
