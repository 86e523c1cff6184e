// Protection that is switched off reaches every channel but recipes: no route and no silence keeps it back, and it is repeated daily.
import { expect, test } from 'vitest';
import { coversEverything } from '../../src/alerts/rules/protection-rule.ts';
import type { Channel } from '../../src/channels/channel.ts';
import { webhookChannel } from '../../src/channels/webhook.ts';
import type { AlertMatch } from '../../src/core/alert.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { firing, sampleAlert, start } from '../alerts/samples.ts';
import { account } from '../web/example-fleet.ts';
import { startReceiver } from './receiver.ts';
import { hookChannel, rigWith, secret } from './rig.ts';

const settings = {
  routes: [{ match: { account: ['acme'] }, channels: ['hook'] }],
  repeatIntervalMs: { critical: null, warning: null, info: null },
};

async function stage() {
  const routed = await startReceiver(() => 0);
  const other = await startReceiver(() => 0);
  const started: string[] = [];
  const recipe: Channel = {
    name: 'fix',
    type: 'recipe',
    minGapMs: 0,
    render: ({ kind }) => {
      started.push(kind);
      return null;
    },
    renderNotice: () => null,
    send: async () => ({ kind: 'sent' }),
  };
  const rig = rigWith((clock) => {
    const more = { name: 'other', url: other.url, secrets: [secret], format: 'standard', pageUrl: null } as const;
    return [hookChannel(routed.url, clock), webhookChannel(more, clock), recipe];
  }, settings);
  rig.fleet.putAccount(account('acme'));
  rig.fleet.putAccount(account('beta'));
  const told = (from: typeof routed) => from.received.map(({ body }) => JSON.parse(body).data.title as string);
  const end = async () => {
    await rig[Symbol.asyncDispose]();
    await routed[Symbol.asyncDispose]();
    await other[Symbol.asyncDispose]();
  };
  return { rig, routed, other, started, told, [Symbol.asyncDispose]: end };
}

const everything = {
  id: 's1',
  match: { rule: ['*'] },
  by: 'jo',
  reason: 'a move',
  from: start,
  until: start + 3 * dayMs,
};

test('a silence over everything is announced to every person, repeated daily, and its end, too; it mutes the rest', async () => {
  await using at = await stage();
  at.rig.fleet.putSilence(everything);
  at.rig.commit(firing(sampleAlert(1)));
  await at.rig.clock.advance(2 * minuteMs);
  const said = 'Warning: a silence mutes all messages until 23 March 10:02 UTC';
  expect([at.told(at.routed), at.told(at.other)]).toEqual([[said], [said]]);
  const body = at.routed.received[0]?.body ?? '';
  expect(body).toContain('Added by jo on 20 March 10:02 UTC: a move.');
  expect(body).toContain('warmwarden silence expire s1');
  await at.rig.clock.advance(2 * dayMs + hourMs);
  expect(at.told(at.other)).toEqual([
    said,
    ...Array.from({ length: 2 }, () => said.replace('Warning', 'Still warning')),
  ]);
  await at.rig.clock.advance(dayMs);
  expect(at.told(at.other).slice(3)).toEqual(['Resolved: the silence that muted all messages is over']);
  expect(at.started).toEqual([]);
});

test('the emergency stop is for everybody, too, under a silence and beside every route', async () => {
  await using at = await stage();
  at.rig.fleet.putSilence({ ...everything, match: { account: ['acme', 'beta'] } });
  at.rig.commit(
    firing(sampleAlert(1, { rule: 'protection_off', object: 'writes', account: 'beta', mailboxId: null, email: null })),
  );
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
