// The views beside the fleet and the mailbox: what each says, what narrows it, and that a silent store is said, not hidden.
import { expect, test } from 'vitest';
import type { Delivery } from '../../src/model/delivery.ts';
import type { CommandEntry } from '../../src/model/operator-command.ts';
import { dayMs, hourMs, minuteMs } from '../../src/model/time.ts';
import { account, action, alert, exampleFleet, mailbox, now } from '../serve/example-fleet.ts';
import { ask, serve } from '../serve/running-server.ts';

const accepts = { accept: 'text/html' };

async function read(path: string, fleet = exampleFleet(), changes: Parameters<typeof serve>[1] = {}): Promise<string> {
  await using server = await serve(fleet, changes);
  const answer = await ask(server.url + path, accepts);
  expect(answer.status).toBe(200);
  return answer.body.toString();
}

/** The text of a page without its tags. */
const textOf = (body: string) => body.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ');

const disconnected = alert({
  rule: 'mailbox_disconnected',
  severity: 'critical',
  mailboxId: 'm3',
  account: 'northwind',
});

function delivery(changes: Partial<Delivery> & Pick<Delivery, 'id'>): Delivery {
  return {
    channel: 'ops',
    group: 'g',
    sequence: 1,
    payload: 'frozen',
    title: 'a message',
    attempts: 1,
    createdAt: now - 2 * minuteMs,
    nextAttemptAt: now,
    detail: null,
    alerts: [disconnected.fingerprint],
    state: 'sent',
    settledAt: now - minuteMs,
    begunAt: null,
    receipt: null,
    ...changes,
  } as Delivery;
}

test('the alerts are shown with their runbook, what was sent of them where, and what mutes them', async () => {
  const fleet = exampleFleet();
  fleet.putAlert(disconnected);
  const match = { rule: ['mailbox_*'] };
  fleet.putSilence({ id: 's1', match, by: 'anna', reason: '<moving>', from: now - hourMs, until: now + hourMs });
  const deliveries = async () => [delivery({ id: 'd1' }), delivery({ id: 'd2', channel: 'hook', state: 'dead' })];
  const ended = { ...alert({ rule: 'api_down' }), status: 'resolved' as const };
  const transitions = async () => [{ kind: 'resolved' as const, at: now - dayMs, alert: ended }];
  const body = await read('/alerts', fleet, { deliveries, transitions });
  const [, item = ''] = /<li id="alert-mailbox_disconnected(.*?)<\/li>/s.exec(body) ?? [];
  expect(textOf(item)).toMatch(/silenced .*anna silenced it: &lt;moving&gt; .*sent ops 1 min ago undelivered hook/);
  expect(item).toContain('href="/runbooks#mailbox_disconnected"');
  expect(textOf(body)).toMatch(/Lately .*resolved warning something is wrong 24 h ago api_down/);
  const narrowed = await read('/alerts?severity=warning', fleet, { deliveries, transitions });
  expect(textOf(narrowed)).toContain('No alert is firing that matches.');
});

test('activity is by everyone, and is narrowed to a person, an operation or a mailbox', async () => {
  const asked: unknown[] = [];
  const command: CommandEntry = {
    id: 4,
    at: now - minuteMs,
    by: 'anna',
    reason: 'a look <first>',
    name: 'pause',
    command: 'pause box5@acme.example',
    account: 'acme',
    mailboxes: [],
    end: 'done',
    endedAt: now,
    outcome: 'Paused.',
  };
  const history = {
    commands: async (query: unknown) => {
      asked.push(query);
      return [command];
    },
    guardActions: async () => [action('a7', mailbox('m5', 'box5@acme.example'))],
  };
  const all = textOf(await read('/activity', exampleFleet(), { history }));
  expect(all).toMatch(
    /done anna pause box5@acme\.example 1 min ago a look &lt;first&gt; Paused\. confirmed Switched to recovery/,
  );
  const hers = await read('/activity?by=anna&mailbox=m5', exampleFleet(), { history });
  expect(hers).not.toContain('Switched to recovery');
  expect(asked.at(-1)).toMatchObject({ mailbox: { account: 'acme', ids: ['m5'] }, since: now - 30 * dayMs });
  expect(textOf(await read('/activity?what=recovery', exampleFleet(), { history }))).not.toContain('Paused.');
  expect(await read('/activity?mailbox=nobody', exampleFleet(), { history })).toContain(
    'No guarded mailbox is called nobody.',
  );
  const broken = () => Promise.reject(new Error('secret path'));
  const silent = await read('/activity', exampleFleet(), { history: { commands: broken, guardActions: broken } });
  expect(silent).toContain('Warmwarden cannot read what was done at the moment.');
});

test('a silence says what it mutes, who asked for it, and when it ends', async () => {
  const fleet = exampleFleet();
  expect(await read('/silences', fleet)).toContain('No silence is in force.');
  const match = { rule: ['dns_*'] };
  fleet.putSilence({ id: 's1', match, by: 'anna', reason: 'DNS moves', from: now - hourMs, until: now + 2 * hourMs });
  expect(textOf(await read('/silences', fleet))).toMatch(
    /rule dns_\* mutes 1 firing alert anna: DNS moves .* ends in 2 h \./,
  );
});

test('the budget of a key says its pace, the age of each kind of data, and how far a first sweep is', async () => {
  const fleet = exampleFleet();
  fleet.putAccount(account('acme', { throttledLastHour: 3, queueLength: 1 }));
  fleet.putSweep({
    account: 'northwind',
    since: now,
    keptFrom: now,
    part: 'judging',
    mailboxes: 2,
    read: 1,
    doneAt: null,
  });
  const said = textOf(await read('/budget', fleet));
  expect(said).toMatch(/acme .*The key allows 90 requests a minute .*Waiting 1 poll, .*3 in the last hour/);
  expect(said).toMatch(/northwind .*First sweep of northwind: 1 of 2 .*DNS 2 h 2 h 1 –/);
});
