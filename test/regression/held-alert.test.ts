// guard_held was named after the account that stood first in the file: reordering the accounts made it fire for ever,
// removing the first one said "resolved" while mailboxes were held, and what a removed account held stayed held.
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import type { Scenario } from '../../tools/simulator/scenario.ts';
import { type MovedDaemon, startMovedDaemon, type WrittenConfig } from '../scenario/moved-daemon.ts';
import { poll, settled } from '../scenario/three-domains.ts';

const fleet = Array.from({ length: 12 }, (_, number) => settled(number));
const second = fleet.slice(6).map(({ email }) => email);
const scenario: Scenario = {
  name: 'jump',
  summary: 'Twelve mailboxes of three domains bounce at once.',
  fleet,
  incidents: [{ kind: 'bounce', mailbox: '*', rate: 0.75, from: 1.5 * hourMs, until: 2.5 * hourMs }],
};

const held = (stage: MovedDaemon) => stage.breaker().entries.filter((entry) => entry.held);
const firing = (stage: MovedDaemon) => [...stage.fleet().alerts()].filter(({ rule }) => rule === 'guard_held');
interface ShownAlert {
  readonly rule: string;
  readonly severity: string;
  readonly sentences: readonly string[];
}
const notActedOn = (stage: MovedDaemon) =>
  [...stage.fleet().alerts()].filter(({ rule, severity }) => rule === 'bounce_over_limit' && severity === 'critical');
const accountsHeld = (stage: MovedDaemon) => [...new Set(held(stage).map(({ account }) => account))].sort();
const without = (name: string) => (config: WrittenConfig) => {
  config.accounts = config.accounts.filter((account) => account['name'] !== name);
};

/** Two accounts of one API, both with mailboxes that are held, and people know. */
async function holding(): Promise<MovedDaemon> {
  const stage = await startMovedDaemon({ scenario, poll, second });
  await stage.until('a hold on both accounts', () => accountsHeld(stage).length === 2, 4 * hourMs);
  await stage.run(20 * minuteMs);
  expect([accountsHeld(stage), firing(stage).length]).toEqual([['agency', 'second'], 1]);
  return stage;
}

/** What was told after the hold, which is told twice: it is judged mailbox by mailbox. */
const toldSince = (stage: MovedDaemon) => stage.notified('guard_held').slice(2);

test('the accounts in another order are no reason to tell it again, and its end is told once', async () => {
  await using stage = await startMovedDaemon({ scenario, poll, second });
  await stage.until('a hold on both accounts', () => accountsHeld(stage).length === 2, 4 * hourMs);
  await stage.run(2 * minuteMs);
  // That it holds more by and by is told, too.
  const told = () => stage.notified('guard_held').filter((kind) => kind !== 'worsened');
  expect(told()).toEqual(['firing']);
  await stage.reload((config) => config.accounts.reverse());
  await stage.run(20 * minuteMs);
  expect([told(), firing(stage).length]).toEqual([['firing'], 1]);
  await stage.release();
  await stage.run(2 * minuteMs);
  expect([told(), firing(stage)]).toEqual([['firing', 'resolved'], []]);
});

test.each(['agency', 'second'])(
  'removing %s withdraws what was held of it; what is held of the other stays, and so does the alert',
  async (name) => {
    await using stage = await holding();
    await stage.reload(without(name), { force: true });
    const other = name === 'agency' ? 'second' : 'agency';
    expect([accountsHeld(stage), firing(stage).map(({ facts }) => facts.accounts)]).toEqual([[other], [[other]]]);
    await stage.run(10 * minuteMs);
    expect(toldSince(stage)).toEqual([]);
  },
);

test('removing the accounts one after the other ends it, and nothing of the API is shown any more', async () => {
  await using stage = await holding();
  stage.expectErrors('the API does not answer (GET /v1/mailboxes: http://127.0.0.1:9');
  await stage.reload(without('agency'), { force: true });
  await stage.reload(
    (config) => {
      config.accounts = [{ ...config.accounts[0], name: 'elsewhere', base_url: 'http://127.0.0.1:9' }];
    },
    { force: true },
  );
  await stage.run(10 * minuteMs);
  expect([toldSince(stage), firing(stage)]).toEqual([['resolved'], []]);
  expect([...stage.fleet().breakers()].map(([api]) => api)).toEqual(['http://127.0.0.1:9']);
});

test('an account that moves to another API takes nothing along and leaves nothing held behind', async () => {
  await using stage = await holding();
  stage.expectErrors('the API does not answer (GET /v1/mailboxes: http://127.0.0.1:9');
  await stage.reload((config) => {
    for (const account of config.accounts) if (account['name'] === 'second') account['base_url'] = 'http://127.0.0.1:9';
  });
  expect(accountsHeld(stage)).toEqual(['agency']);
});

test('an account that leaves the configuration while nobody is on duty is withdrawn at the next start', async () => {
  await using stage = await holding();
  await stage.restart(without('agency'));
  expect([accountsHeld(stage), firing(stage).length]).toEqual([['second'], 1]);
  await stage.run(10 * minuteMs);
  expect(toldSince(stage)).toEqual([]);
});

test('it is shown with its accounts and a link to what is held, and a dry run says when it would end', async () => {
  await using stage = await holding();
  const page = await (await fetch(stage.url())).text();
  expect(page).toMatch(/<a href="\/\?state=held">[^<]*\d+ mailboxes held/);
  const { alerts } = (await (await fetch(`${stage.url()}/api/alerts`)).json()) as { alerts: object[] };
  expect(alerts).toContainEqual(expect.objectContaining({ account: '', accounts: ['agency', 'second'] }));
  // What an earlier version worded gets its counts with the next answer about any of those that are held.
  await stage.run(20 * minuteMs);
  const named = firing(stage)[0]?.facts.sentences.find((text) => text.startsWith('NO ACTION TAKEN')) ?? '';
  expect(named.match(/ \((agency|second)/g)?.length).toBe(Math.min(10, held(stage).length));
  expect(named.match(/\((agency|second), \d+ bounces in \d+ emails: [\d.]+ %\)/g)).toHaveLength(
    named.match(/ \((agency|second)/g)?.length ?? 0,
  );
  const dryRun = async (change: (config: WrittenConfig) => void) =>
    (await stage.reload(change, { force: true, dryRun: true })).messages.join('\n');
  expect(await dryRun(without('second'))).not.toContain('mailboxes held');
  expect(await dryRun((config) => Object.assign(config.accounts[0] ?? {}, { name: 'other' }))).toMatch(
    /the alert "[^"]*mailboxes held[^"]*" ends/,
  );
});

test('what was not acted on because writes were off says that the breaker holds it, once they are on; nobody is told again', async () => {
  await using stage = await holding();
  await stage.run(5 * minuteMs);
  await stage.writes(true);
  const shown = async () => {
    const { alerts } = (await (await fetch(`${stage.url()}/api/alerts`)).json()) as { alerts: ShownAlert[] };
    return alerts.filter(({ rule, severity }) => rule === 'bounce_over_limit' && severity === 'critical');
  };
  const saying = async (words: string) =>
    (await shown()).filter(({ sentences }) => sentences.some((text) => text.includes(words)));
  const many = notActedOn(stage).length;
  expect([many > 0, (await saying('`warmwarden writes on`')).length]).toEqual([true, many]);
  await stage.run(5 * minuteMs);
  const told = () => stage.notified('bounce_over_limit').filter((status) => status !== 'resolved').length;
  const toldBefore = told();
  await stage.writes(false);
  expect(held(stage).length).toBeGreaterThan(0);
  const named = firing(stage)[0]?.facts.sentences.find((text) => text.startsWith('NO ACTION TAKEN')) ?? '';
  // Also of the one whose answer moved the breaker last.
  const counts = named.match(/\((agency|second), \d+ bounces in \d+ emails: [\d.]+ %\)/g);
  expect(counts).toHaveLength(Math.min(10, held(stage).length));
  expect(await saying('Writes are off')).toEqual([]);
  expect((await saying('`warmwarden breaker release`')).length).toBe(held(stage).length);
  const readAt = (text: string) => text.startsWith('Based on counts read');
  const before = (await shown())[0]?.sentences.find(readAt);
  await stage.run(20 * minuteMs);
  expect((await shown())[0]?.sentences.find(readAt)).not.toBe(before);
  expect(told()).toBe(toldBefore);
  const page = await (await fetch(`${stage.url()}/alerts`)).text();
  expect(page).not.toContain('Writes are off');
});

test('a hold that is to last before it is told fires although it belongs to no account', async () => {
  const file = { alerts: { rules: { guard_held: { for: '5m' } } } };
  await using stage = await startMovedDaemon({ scenario, poll, second, file });
  await stage.until('a hold', () => held(stage).length > 0, 4 * hourMs);
  await stage.run(minuteMs);
  expect(firing(stage)).toMatchObject([{ status: 'pending' }]);
  await stage.run(5 * minuteMs);
  expect(firing(stage)).toMatchObject([{ status: 'firing' }]);
});

test('a release ends a hold that was not told yet', async () => {
  const file = { alerts: { rules: { guard_held: { for: '30m' } } } };
  await using stage = await startMovedDaemon({ scenario, poll, second, file });
  await stage.until('a hold', () => held(stage).length > 0, 4 * hourMs);
  expect(firing(stage)).toMatchObject([{ status: 'pending' }]);
  await stage.release();
  expect(firing(stage)).toEqual([]);
});
