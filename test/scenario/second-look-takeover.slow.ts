// What one process saw once is looked at a second time by the standby that follows it, long before the cadence asks.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Crew } from '../support/crew.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const yearly = '0 0 1 1 *';
const lookEveryMs = 100;

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

test.each(['killed', 'stopped'] as const)(
  'a process that is %s between the first look and the second leaves the second to the other one',
  async (how) => {
    await using crew = await Crew.start(postgres, 2, ['a'], {
      poll: { mailbox: yearly, dns: yearly, blacklist: yearly },
    });
    const api = crew.api('a');
    const sick = api.add('sick@sick.example', { dns: 'fail', connectionError: 'IMAP login failed' });
    const rules = ['dns_failing', 'mailbox_unwell'];
    const stored = async () => {
      await sleep(lookEveryMs);
      return crew.query<{ rule: string; status: string }>(
        `SELECT alert::jsonb->>'rule' AS rule, alert::jsonb->>'status' AS status FROM warmwarden.alerts
         WHERE alert::jsonb->>'rule' IN ('dns_failing', 'mailbox_unwell') ORDER BY 1`,
      );
    };
    const all = (status: string) => async () =>
      JSON.stringify(await stored()) === JSON.stringify(rules.map((rule) => ({ rule, status })));
    await until('both to be seen once', all('pending'));
    const looks = () => [api.reads('/v1/dns', sick).length, api.reads(`/v1/mailboxes/${sick.id}`, sick).length];
    expect(looks()).toEqual([1, 1]);
    const { active: owner, standby: other } = await crew.both();
    if (how === 'killed') await owner.daemon.killNow();
    else owner.daemon.kill('SIGTERM');
    await owner.daemon.ended;
    const left = performance.now();
    await until('both to be seen again by the other', all('firing'));
    // The takeover, at most 20 s, and the minute between two looks.
    expect(performance.now() - left).toBeLessThan(100_000);
    expect(await crew.active()).toBe(other);
    expect(looks()).toEqual([2, 2]);
    const told = () => crew.receiver.alerts().filter(({ rule }) => rules.includes(rule));
    await until('people to be notified', () => told().length === 2);
    expect(
      told()
        .map(({ rule, status }) => `${rule} ${status}`)
        .sort(),
    ).toEqual(rules.map((rule) => `${rule} firing`));
  },
);
