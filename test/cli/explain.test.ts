// `warmwarden explain` tells what a daemon has decided and done.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { hourMs } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import type { ServerOptions } from '../../src/web/server.ts';
import { scenarioStart } from '../../tools/simulator/scenarios.ts';
import { amelia, goOnDuty, oliver, stormOf } from '../account/duty.ts';
import { commandLine } from '../support/command-line.ts';
import { account, alert } from '../web/example-fleet.ts';
import { serve } from '../web/running-server.ts';

let duty: Awaited<ReturnType<typeof goOnDuty>>;
let store: Store;

beforeAll(async () => {
  duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
  await duty.until(() => duty.action()?.state === 'confirmed');
  await duty.run(2 * hourMs);
  store = await Store.open(join(duty.image(), 'warmwarden.db'), Date.now());
});
afterAll(async () => {
  await store.close();
  await duty[Symbol.asyncDispose]();
});

/** Of a daemon that has the store. */
async function explainIn(zone: string, ...args: string[]) {
  return await explainOf(new Fleet(), zone, ...args);
}

async function explainOf(fleet: Fleet, zone: string, ...args: string[]) {
  return await explainWith(fleet, { timeZone: () => zone }, ...args);
}

async function explainWith(fleet: Fleet, options: Partial<ServerOptions>, ...args: string[]) {
  for (const mailbox of (await store.loadPicture()).mailboxes) fleet.putMailbox(mailbox);
  await using server = await serve(fleet, { entries: store, ...options });
  const { stdout, stderr, code: status } = await commandLine(['explain', ...args, '--url', server.url]);
  return { stdout, stderr, status };
}

const explain = (...args: string[]) => explainIn('UTC', ...args);

test('tells the breach, the action and what came after, newest first', async () => {
  const { stdout, stderr, status } = await explain(amelia);
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 });
  const [head, ...story] = stdout.split('\n');
  expect(head).toContain(`${amelia} on account agency, mode recovery; recovery by Warmwarden since 10 March`);
  const text = story.join('\n');
  expect(text).toMatch(
    /recovery \(bounce rate over limit\)\n {2}\d+ bounces in \d+ emails from .* over the balanced limit of 1%/,
  );
  // Each action with its date: a time alone says little a day later.
  expect(text).toMatch(
    /^\d+ March \d\d:\d\d UTC: recovery by Warmwarden, confirmed\n( {2}.*\n)* {2}Warmwarden switched it to recovery mode at .*, confirmed/m,
  );
  const begun = story.flatMap((line) => /^(\d+) March (\d\d:\d\d) UTC/.exec(line)?.slice(1, 3).join(' ') ?? []);
  expect(begun).toEqual(begun.toSorted().reverse());
  expect(text.indexOf('No emails were sent yet')).toBeLessThan(text.indexOf('bounce rate over limit'));
});

test('begins with the outage of its account, or with its own stale statistics', async () => {
  const fleet = new Fleet();
  const now = scenarioStart;
  const failing = { failingSince: now, lastFailure: 'connection refused' };
  fleet.putAccount(account('agency', failing));
  fleet.putAccount(account('other', { failingSince: now - hourMs }));
  const down = 'NOT GUARDED since 10 March 08:30 UTC. Account agency: Connection refused. Check whether the API is up';
  const { stdout } = await explainOf(fleet, 'UTC', amelia);
  expect(stdout.split('\n').slice(0, 2)).toEqual([expect.stringContaining(down), expect.stringContaining(amelia)]);
  const { mailbox } = JSON.parse((await explainOf(fleet, 'UTC', amelia, '--json')).stdout);
  expect(mailbox.not_guarded).toContain(down);
  fleet.putAccount(account('agency'));
  expect((await explainOf(fleet, 'UTC', amelia)).stdout).not.toContain('NOT GUARDED');
  const { id: mailboxId } = mailbox;
  const facts = { title: 'stale', sentences: ['Three polls failed.'], numbers: {} };
  fleet.putAlert(alert({ rule: 'stale_data', object: 'statistics', account: 'agency', mailboxId, facts, since: now }));
  const stale = (await explainOf(fleet, 'UTC', amelia)).stdout;
  expect(stale).toMatch(/^NOT GUARDED since .* UTC\. Three polls failed\.\n/);
});

test('a decision is NOT DONE while enforcement is off, unless Warmwarden acted on it before', async () => {
  const notDone = /NOT DONE: recovery \(bounce rate over limit\).*enforcement/;
  const policyOf = () => ({ ...defaultPolicy, enforce: false });
  const entriesOf = async (...asked: Parameters<Store['entriesOf']>) => {
    const entries = await store.entriesOf(...asked);
    const wants = entries.decisions.findIndex(({ verdict }) => verdict.action === 'recovery');
    return { ...entries, decisions: entries.decisions.slice(wants), actions: [] };
  };
  const withoutActions = { ...store, entriesOf };
  const waiting = await explainWith(new Fleet(), { policyOf, entries: withoutActions }, amelia);
  expect(waiting.stdout).toMatch(notDone);
  expect((await explainWith(new Fleet(), { policyOf }, amelia)).stdout).not.toMatch(/NOT DONE/);
  expect((await explainWith(new Fleet(), { entries: withoutActions }, amelia)).stdout).not.toMatch(/NOT DONE/);
});

test('a held action has its deadline and the commands that decide', async () => {
  const fleet = new Fleet();
  const { mailbox } = JSON.parse((await explainOf(fleet, 'UTC', oliver, '--json')).stdout);
  const whole = fleet.mailbox('agency', mailbox.id);
  if (!whole?.verdict) throw new Error('it was not judged');
  const held = { ...whole.verdict.answer, action: 'hold', wanted: 'pause', reason: 'circuit_breaker' } as const;
  const facts = { title: '', sentences: [], numbers: { acts_from: '2026-03-12T03:51:00Z' }, accounts: ['agency'] };
  fleet.putMailbox({ ...whole, verdict: { ...whole.verdict, answer: held } });
  fleet.putAlert(alert({ rule: 'guard_held', account: '', mailboxId: null, object: 'api', facts }));
  await using server = await serve(fleet, { entries: store });
  const { stdout } = await commandLine(['explain', oliver, '--url', server.url]);
  expect(stdout.split('\n')[1]).toMatch(
    /^HELD, no action yet\. .*`warmwarden breaker apply` .*breaker discard.* 12 March 03:51 UTC/,
  );
});

test('begins with a lost connection', async () => {
  const fleet = new Fleet();
  const { mailbox } = JSON.parse((await explainOf(fleet, 'UTC', amelia, '--json')).stdout);
  const facts = { title: 'disconnected', sentences: ['IMAP login failed.'], numbers: {} };
  const about = { account: 'agency', mailboxId: mailbox.id, facts, since: scenarioStart };
  fleet.putAlert(alert({ rule: 'mailbox_unwell', object: 'connection', ...about }));
  expect((await explainOf(fleet, 'UTC', amelia)).stdout).toMatch(
    /^DISCONNECTED since 10 March 08:30 UTC\. IMAP login failed\.\n/,
  );
});

test('gives each time in alerts.time_zone, and programs times in UTC', async () => {
  const { stdout } = await explainIn('Europe/Berlin', amelia);
  expect(stdout).toMatch(/10 March \d\d:\d\d Europe\/Berlin/);
  expect(stdout).not.toMatch(/\d\d:\d\d UTC/);
  const { time_zone: zone, decisions } = JSON.parse((await explainIn('Europe/Berlin', amelia, '--json')).stdout);
  expect([zone, decisions[0].since]).toEqual(['Europe/Berlin', expect.stringMatching(/Z$/)]);
});
