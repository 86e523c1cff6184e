// What the log says when a whole route of an account fails: not a line a mailbox.
import { expect, test } from 'vitest';
import { AccountHealth } from '../../src/account/account-health.ts';
import { Budget } from '../../src/api/budget.ts';
import type { Failure } from '../../src/api/http/failure.ts';
import type { Route } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { logTo } from '../../src/world/world.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';

const html: Failure = { kind: 'malformed', status: 200, detail: 'HTTP 200, but the body is HTML', retryAfterMs: null };
const mailboxes = Array.from({ length: 66 }, (_, number) => `m${number}@x.test`);

function healthOf() {
  const clock = movedClock(0);
  const lines: Record<string, unknown>[] = [];
  const log = logTo((line) => void lines.push(JSON.parse(line)), { level: 'info', format: 'json' }, clock);
  const health = new AccountHealth({
    account: 'acme',
    world: { clock, random: () => 0.5, log, command: 'warmwarden' },
    fleet: new Fleet(),
    budget: new Budget({ requestsPerMinute: 60, headroomPpm: 0 }),
    backlog: () => ({ length: 0, oldestDueAt: null }),
    forecast: () => {
      throw new Error('no list was read');
    },
  });
  const fail = (route: Route, failure = html, of: readonly (string | null)[] = mailboxes) => {
    for (const mailboxId of of) health.failed(failure, { route, mailboxId });
  };
  const answer = (route: Route, of: readonly (string | null)[] = mailboxes) => {
    for (const mailboxId of of) health.succeeded({ route, mailboxId });
  };
  /** Lines since the last look. */
  const said = () =>
    lines.splice(0).map(({ msg, route, mailbox, left_out }) => ({
      msg,
      route,
      ...(mailbox !== undefined && { mailbox }),
      ...(left_out !== undefined && { left_out }),
    }));
  return { clock, lines, health, fail, answer, said };
}

test('a failure of a whole route is one line, and a minute later how many more mailboxes had it', async () => {
  const { clock, lines, health, fail } = healthOf();
  fail('dns');
  expect(lines).toMatchObject([
    { level: 'warn', account: 'acme', route: 'dns', mailbox: 'm0@x.test', failure: 'malformed', msg: html.detail },
  ]);
  await clock.advance(30 * secondMs);
  health.publish();
  expect(lines).toHaveLength(1);
  await clock.advance(minuteMs);
  health.publish();
  expect(lines.slice(1)).toMatchObject([
    { level: 'warn', account: 'acme', route: 'dns', failure: 'malformed', status: 200, left_out: 65, msg: html.detail },
  ]);
  expect(lines[1]).not.toHaveProperty('mailbox');
  // Each of them fails as it did before.
  fail('dns');
  expect(lines).toHaveLength(2);
});

test('the end of it is one line, and a minute later how many more mailboxes were answered again', async () => {
  const { clock, health, fail, answer, said } = healthOf();
  fail('dns', html, mailboxes.slice(0, 1));
  await clock.advance(2 * minuteMs);
  fail('dns', html, mailboxes.slice(1));
  said();
  answer('dns');
  expect(said()).toEqual([{ msg: 'answered again', route: 'dns', mailbox: 'm0@x.test' }]);
  await clock.advance(minuteMs);
  health.publish();
  expect(said()).toEqual([
    { msg: html.detail, route: 'dns', left_out: 64 },
    { msg: 'answered again', route: 'dns', left_out: 65 },
  ]);
});

test('a list that fails while everything else is answered is one line, and its end another', () => {
  const { fail, answer, said } = healthOf();
  const list = [null];
  for (let round = 0; round < 3; round += 1) {
    fail('mailboxes', html, list);
    answer('stats');
  }
  expect(said().map(({ msg }) => msg)).toEqual([expect.stringContaining(html.detail)]);
  answer('mailboxes', list);
  answer('mailboxes', list);
  expect(said().map(({ msg }) => msg)).toEqual(['the API answers again']);
  fail('mailboxes', html, list);
  expect(said()).toHaveLength(1);
});
