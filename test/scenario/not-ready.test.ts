// A daemon that is alone and not ready: for each cause, what /readyz says, and who notices without looking at it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { request } from 'undici';
import { expect, test } from 'vitest';
import type { AlertRule } from '../../src/core/alert.ts';
import { minuteMs } from '../../src/core/time.ts';
import { causes } from '../../src/daemon/readiness.ts';
import { tooFar } from '../../src/store/replicas/skew.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { failWrites } from '../support/failing-writes.ts';
import { MovedMembership } from '../support/moved-membership.ts';
import { root } from '../support/process.ts';
import { startMovedDaemon, trouble } from './moved-daemon.ts';

const poll = { health: '* * * * *', mailboxes: '* * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };

interface Case {
  readonly cause: keyof typeof causes;
  /** Of what `/readyz` says. */
  readonly reason: RegExp;
  /** The message that is sent. */
  readonly rule: AlertRule;
  /** Whether this replica has the messages when it happens. */
  readonly notifies: boolean;
  /** In the list of docs/operating.md. */
  readonly documented: string;
  /** Brings it about, and undoes it. */
  readonly happen: (membership: MovedMembership) => Disposable | undefined;
}

const store = {
  cause: 'store',
  reason: /^not ready: the store is failing \(since 10 March 08:3\d UTC\): .+\. .+\n/,
  rule: 'store_failing',
  documented: 'The store is failing',
} as const;
const cases: readonly (Case & { readonly what: string })[] = [
  { ...store, what: 'writes that fail', notifies: true, happen: () => failWrites(() => true) },
  {
    ...{ ...store, what: 'a heartbeat that fails', notifies: true },
    happen: (membership) => void Object.assign(membership, { overdue: new Error('no answer'), isOver: true }),
  },
  {
    ...{ ...store, what: 'a clock that keeps it from taking any work', notifies: false },
    reason: /^not ready: a replica takes no work: its clock is wrong/,
    happen: (membership) => void Object.assign(membership, { overdue: tooFar('host-a', -45_000) }),
  },
  {
    ...{ cause: 'account', what: 'an account that no replica has', notifies: true, rule: 'account_unguarded' },
    ...{ reason: /account agency has not been guarded since .*: no replica/, documented: 'An account is not guarded' },
    happen: (membership) => void membership.drop('account:agency'),
  },
  {
    ...{ cause: 'task', what: 'a task that keeps failing', notifies: true, rule: 'task_failing' },
    ...{ reason: /watching the replicas has failed since/, documented: 'A task has failed' },
    happen: (membership) =>
      void Object.assign(membership, {
        missing: () => {
          throw new Error('a mistake of ours');
        },
      }),
  },
];

test.each(cases)('$what', async ({ reason, rule, notifies, happen }) => {
  const membership = new MovedMembership();
  await using stage = await startMovedDaemon({
    ...{ scenario: stormOf(amelia, oliver), poll, openStore: membership.openStore },
    expectErrors: [''],
  });
  if (notifies) for (const scope of membership.wanted) await membership.give(scope, 'free');
  const probe = async (path: string) => (await request(`${stage.url()}${path}`)).body.text();
  if (notifies) {
    await stage.run(2 * minuteMs);
    expect(await probe('/readyz')).toBe('ready\n');
  }
  using _happening = happen(membership);
  await stage.run(5 * minuteMs);
  expect(await probe('/readyz')).toMatch(reason);
  expect(await probe('/metrics')).toContain('warmwarden_ready 0\n');
  expect(stage.receiver.alerts().map((alert) => alert.rule)).toEqual([rule]);
});

const channels = { cause: 'channels', documented: 'No channel accepts messages' } as const;

test('no channel that takes messages', async () => {
  await using stage = await startMovedDaemon({ scenario: stormOf(amelia, oliver), poll, expectErrors: [''] });
  const probe = async (path: string) => (await request(`${stage.url()}${path}`)).body.text();
  await stage.run(minuteMs);
  expect(await probe('/readyz')).toBe('ready\n');
  stage.receiver.answer = () => 410;
  await trouble(stage.simulator.url, 'disconnect', amelia);
  await stage.run(5 * minuteMs);
  expect(await probe('/readyz')).toMatch(
    /^not ready: no channel has accepted a message since 10 March 08:3\d UTC: .*answered 410/,
  );
  expect(await probe('/')).toMatch(/class="headline alarm"/);
  stage.receiver.answer = () => 200;
  await stage.run(61 * minuteMs);
  expect(await probe('/readyz')).toBe('ready\n');
  expect(stage.receiver.alerts().map(({ rule }) => rule)).toContain('mailbox_disconnected');
});

test('each cause is here and in docs/operating.md; a start has only its end to wait for', () => {
  const docs = readFileSync(join(root, 'docs/operating.md'), 'utf8');
  const documented = new Map<string, string>([['start', 'The first sweep has not started']]);
  for (const { cause, documented: words } of [...cases, channels]) documented.set(cause, words);
  // Its case: test/habits/days.test.ts.
  documented.set('judging', 'No mailbox can be judged');
  // Its case: test/habits/unrecorded-list.test.ts.
  documented.set('lists', 'A mailbox list cannot be recorded');
  expect([...documented.keys()].toSorted()).toEqual(Object.keys(causes).toSorted());
  for (const words of documented.values()) expect(docs).toContain(`- **${words}**: `);
});
