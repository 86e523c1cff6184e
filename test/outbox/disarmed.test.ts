// Protection that is switched off reaches every channel but recipes: no route and no silence keeps it back, and it is repeated daily.
import { expect, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import { coversEverything } from '../../src/alerts/rules/protection-rule.ts';
import type { AlertMatch } from '../../src/core/alert.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { account } from '../web/example-fleet.ts';
import { type Receiver, startReceiver } from './receiver.ts';
import { hookChannel, stage } from './rig.ts';

const settings = {
  routes: [{ match: { account: ['acme'] }, channels: ['hook'] }],
  repeatIntervalMs: { critical: null, warning: null, info: null },
};

async function staged() {
  const other = await startReceiver();
  const started: string[] = [];
  const render = ({ kind }: GroupMessage) => {
    started.push(kind);
    return null;
  };
  const send = async () => ({ kind: 'sent' }) as const;
  const recipe = { name: 'fix', type: 'recipe', minGapMs: 0, render, renderNotice: () => null, send } as const;
  const at = await stage(settings, {}, (url, clock) => [
    hookChannel(url, clock),
    hookChannel(other.url, clock, 'other'),
    recipe,
  ]);
  for (const name of ['acme', 'beta']) at.rig.fleet.putAccount(account(name));
  const told = (from: Receiver) => from.received.map(({ body }) => JSON.parse(body).data.title as string);
  const end = async () => {
    await at[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { rig: at.rig, routed: at.receiver, other, started, told, [Symbol.asyncDispose]: end };
}

const times = { from: start, until: start + 3 * dayMs };
const everything = { id: 's1', match: { rule: ['*'] }, by: 'jo', reason: 'a move', ...times };

test('a silence over everything is announced to every person, repeated daily, and its end, too; it mutes the rest', async () => {
  await using at = await staged();
  at.rig.fleet.putSilence(everything);
  at.rig.commit(firing(sampleAlert(1)));
  await at.rig.clock.advance(2 * minuteMs);
  const said = 'Warning: a silence mutes all messages until 23 March 10:02 UTC';
  expect([at.told(at.routed), at.told(at.other)]).toEqual([[said], [said]]);
  const body = at.routed.received[0]?.body ?? '';
  expect(body).toContain('Added by jo on 20 March 10:02 UTC: a move.');
  expect(body).toContain('warmwarden silence expire s1');
  await at.rig.clock.advance(2 * dayMs + hourMs);
  const still = said.replace('Warning', 'Still warning');
  expect(at.told(at.other)).toEqual([said, still, still]);
  await at.rig.clock.advance(dayMs);
  expect(at.told(at.other).slice(3)).toEqual(['Resolved: the silence that muted all messages is over']);
  expect(at.started).toEqual([]);
});

test('the emergency stop is for everybody, too, under a silence and beside every route', async () => {
  await using at = await staged();
  at.rig.fleet.putSilence({ ...everything, match: { account: ['acme', 'beta'] } });
  const whole = { object: 'writes', account: 'beta', mailboxId: null, email: null };
  at.rig.commit(firing(sampleAlert(1, { rule: 'protection_off', ...whole })));
  await at.rig.clock.advance(2 * minuteMs);
  for (const receiver of [at.routed, at.other])
    expect(at.told(receiver).sort()).toEqual([
      'Warning: a silence mutes all messages until 23 March 10:02 UTC',
      'Warning: bob1@acme.example: stale statistics',
    ]);
});

test.each<readonly [string, AlertMatch, boolean]>([
  ['every rule', { rule: ['*'] }, true],
  ['every severity', { severity: ['critical', 'warning', 'info'] }, true],
  ['every account, named', { account: ['acme', 'b*'] }, true],
  ['every mailbox', { mailbox: ['*'] }, true],
  ['some rules', { rule: ['dns_*'] }, false],
  ['one account of two', { account: ['acme'] }, false],
  ['every rule of one account', { rule: ['*'], account: ['acme'] }, false],
  ['all but critical', { severity: ['warning', 'info'] }, false],
])('%s: a silence over everything or not', (_what, match, all) => {
  expect(coversEverything(match, ['acme', 'beta'])).toBe(all);
});
