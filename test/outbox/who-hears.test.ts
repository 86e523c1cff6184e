// Who hears of what: protection that is switched off reaches every channel but recipes; an alert that grows reaches the channel of
// an account that joins it.
import { expect, test } from 'vitest';
import type { GroupMessage } from '../../src/alerts/grouping.ts';
import { coversEverything } from '../../src/alerts/rules/protection-rule.ts';
import { alertmanagerChannel } from '../../src/channels/alertmanager.ts';
import type { Alert, AlertMatch } from '../../src/core/alert.ts';
import { dayMs, hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { firing, resolved, sampleAlert, start } from '../alerts/samples.ts';
import { pauseOf } from '../channels/people.ts';
import { account } from '../web/example-fleet.ts';
import type { Receiver } from './receiver.ts';
import { hookChannel, slackTo, stage } from './rig.ts';

const settings = {
  routes: [{ match: { account: ['acme'] }, channels: ['hook'] }],
  repeatIntervalMs: { critical: null, warning: null, info: null },
};

async function staged() {
  const started: string[] = [];
  const render = ({ kind }: GroupMessage) => {
    started.push(kind);
    return null;
  };
  const send = async () => ({ kind: 'sent' }) as const;
  const recipe = { name: 'fix', type: 'recipe', minGapMs: 0, render, renderNotice: () => null, send } as const;
  const at = await stage(settings, {}, (url, clock, second) => [
    hookChannel(url, clock),
    hookChannel(second, clock, 'other'),
    recipe,
  ]);
  for (const name of ['acme', 'beta']) at.rig.fleet.putAccount(account(name));
  const told = (from: Receiver) => from.received.map(({ body }) => JSON.parse(body).data.title as string);
  return { ...at, routed: at.receiver, other: at.second, started, told };
}

const times = { from: start, until: start + dayMs + 2 * hourMs };
const everything = { id: 's1', match: { rule: ['*'] }, by: 'jo', reason: 'a move', ...times };

test('a silence over everything is announced to every person, repeated daily, and its end, too; it mutes the rest', async () => {
  await using at = await staged();
  at.rig.fleet.putSilence(everything);
  at.rig.commit(firing(sampleAlert(1)));
  await at.rig.clock.advance(2 * minuteMs);
  const said = 'Warning: a silence mutes all messages until 21 March 12:02 UTC';
  expect([at.told(at.routed), at.told(at.other)]).toEqual([[said], [said]]);
  expect(at.routed.received[0]?.body).not.toContain('jo');
  const body = at.other.received[0]?.body ?? '';
  expect(body).toContain('Added by jo on 20 March 10:02 UTC: a move.');
  expect(body).toContain('warmwarden silence expire s1');
  await at.rig.clock.advance(dayMs + hourMs);
  const still = said.replace('Warning', 'Still warning');
  expect(at.told(at.other)).toEqual([said, still]);
  await at.rig.clock.advance(hourMs);
  expect(at.told(at.other).slice(2)).toEqual(['Resolved: the silence that muted all messages is over']);
  expect(at.started).toEqual([]);
});

test('the write stop of an account is for everybody but the clients of others, under a silence and beside every route', async () => {
  await using at = await staged();
  at.rig.fleet.putSilence({ ...everything, match: { account: ['acme', 'beta'] } });
  const whole = { object: 'writes', account: 'beta', mailboxId: null, email: null };
  at.rig.commit(firing(sampleAlert(1, { rule: 'protection_off', ...whole })));
  await at.rig.clock.advance(2 * minuteMs);
  const silenced = 'Warning: a silence mutes all messages until 21 March 12:02 UTC';
  expect(at.told(at.routed)).toEqual([silenced]);
  expect(at.told(at.other).sort()).toEqual([silenced, 'Warning: bob1@acme.example: stale statistics']);
});

test.each<readonly [string, AlertMatch, boolean]>([
  ['every rule', { rule: ['*'] }, true],
  ['every severity', { severity: ['critical', 'warning', 'info'] }, true],
  ['every account, named', { account: ['acme', 'b*'] }, true],
  ['every mailbox', { mailbox: ['*'] }, true],
  ['a tag of every account', { tag: ['client=*'] }, true],
  ['another tag', { tag: ['vip'] }, false],
  ['some rules', { rule: ['dns_*'] }, false],
  ['one account of two', { account: ['acme'] }, false],
  ['every rule of one account', { rule: ['*'], account: ['acme'] }, false],
  ['all but critical', { severity: ['warning', 'info'] }, false],
])('%s: a silence over everything or not', (_what, match, all) => {
  expect(
    coversEverything(
      match,
      ['acme', 'beta'].map((name) => ({ name, tags: ['client=north'] })),
    ),
  ).toBe(all);
});

/** The breaker of one API, which holds mailboxes of these accounts. */
function held(accounts: readonly string[], held: number): Alert {
  const alert = sampleAlert(1, {
    rule: 'guard_held',
    account: '',
    mailboxId: null,
    email: null,
    object: 'https://api.example',
  });
  return { ...alert, severity: 'critical', facts: { ...alert.facts, accounts, numbers: { held } } };
}

async function begin() {
  const routes = [
    { match: { account: ['acme'] }, channels: ['first'] },
    { match: { account: ['bolt'] }, channels: ['second'] },
  ];
  const at = await stage({ routes }, {}, (url, clock, second) => [
    hookChannel(url, clock, 'first'),
    hookChannel(second, clock, 'second'),
  ]);
  /** What both were told of so far. */
  const told = () =>
    [at.receiver, at.second].map(({ received }) =>
      received.map(({ body }) => JSON.parse(body).type.slice(7)).join(' '),
    );
  at.rig.fleet.putAlert(held(['acme'], 3));
  at.rig.commit(firing(held(['acme'], 3)));
  await at.rig.clock.advance(31 * secondMs);
  expect(told()).toEqual(['firing', '']);
  return { ...at, grows: (alert: Alert) => at.rig.fleet.putAlert(alert), told };
}

const both = held(['acme', 'bolt'], 9);

test('the channel of an account that joins a held breaker is notified with the next message of its group, once', async () => {
  await using at = await begin();
  at.grows(held(['acme'], 30));
  await at.rig.clock.advance(10 * minuteMs);
  expect(at.told()).toEqual(['firing', '']);
  at.grows(both);
  await at.rig.clock.advance(31 * secondMs);
  expect(at.told()).toEqual(['firing worsened', 'firing']);
  at.grows(held(['acme', 'bolt'], 12));
  await at.rig.clock.advance(10 * minuteMs);
  expect(at.told()).toEqual(['firing worsened', 'firing']);
  at.rig.fleet.removeAlert(both.fingerprint);
  at.rig.commit(resolved(both));
  await at.rig.clock.advance(6 * minuteMs);
  expect(at.told()).toEqual(['firing worsened resolved', 'firing resolved']);
});

test('a silence holds for it too', async () => {
  await using at = await begin();
  const from = at.rig.clock.now();
  const match = { rule: ['guard_held'] };
  at.rig.fleet.putSilence({ id: 's', match, by: 'ann', reason: '', from, until: from + 10 * minuteMs });
  at.grows(both);
  await at.rig.clock.advance(9 * minuteMs);
  expect(at.told()).toEqual(['firing', '']);
  await at.rig.clock.advance(2 * minuteMs);
  expect(at.told()).toEqual(['firing worsened', 'firing']);
});

test('ten pauses, one every 3.5 s, are three messages when the group interval is 30 s, and none is lost', async () => {
  const waits = { groupWaitMs: secondMs, groupIntervalMs: 30 * secondMs };
  await using at = await stage({ ...settings, ...waits });
  for (let number = 0; number < 10; number += 1) {
    const pause = pauseOf('confirmed');
    const subject = { mailboxId: `m${number}`, fingerprint: `pause ${number}` };
    at.rig.commit({ ...pause, at: at.rig.clock.now(), alert: { ...pause.alert, ...subject } });
    await at.rig.clock.advance(3_500);
  }
  await at.rig.clock.advance(minuteMs);
  expect(at.bodies().map(({ data }) => data.total)).toEqual([1, 8, 1]);
});

test('messages name the tags: a chat in a line, a webhook in a list, an Alertmanager by labels that stay the same', async () => {
  const usual = { ...settings, routes: [{ match: {}, channels: ['hook', 'am', 'ops'] }] };
  await using at = await stage(usual, {}, (url, clock, second) => [
    hookChannel(url, clock),
    alertmanagerChannel({ name: 'am', url: second }, clock),
    slackTo(url, clock),
  ]);
  const { fleet, clock } = at.rig;
  fleet.tags = { ...fleet.tags, of: ({ id }) => (id === 'm1' ? ['client=north', 'eu-west'] : []) };
  const [tagged, plain] = [sampleAlert(1), sampleAlert(2, { mailboxId: 'm2' })];
  for (const one of [tagged, plain]) fleet.putAlert(one);
  at.rig.commit(firing(tagged), firing(plain));
  await clock.advance(3 * minuteMs);
  const hook = at.bodies().find(({ data }) => data);
  expect(hook.data.alerts.map(({ tags }: { tags: readonly string[] }) => tags)).toEqual([
    ['client=north', 'eu-west'],
    [],
  ]);
  const chat = JSON.stringify(at.bodies().find(({ attachments }) => attachments));
  expect(chat.split('Tags: client=north, eu-west')).toHaveLength(2);
  at.rig.commit(resolved(tagged));
  await clock.advance(3 * minuteMs);
  const posts = at.second.received.flatMap(({ body }) => JSON.parse(body) as { labels: Record<string, string> }[]);
  const labels = new Set(
    posts.filter(({ labels: own }) => own['mailbox_id'] === 'm1').map((one) => JSON.stringify(one.labels)),
  );
  expect([...labels]).toEqual([expect.stringMatching(/"tag_client":"north","tag_eu_west":"true"/)]);
  expect(posts.some(({ labels: own }) => own['mailbox_id'] === 'm2' && 'tag_client' in own)).toBe(false);
});
