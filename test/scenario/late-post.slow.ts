// A POST that is on its way while its process is frozen past the deadline, and comes when the standby has acted and a
// person has taken that back: what the person requested holds, and people are told once.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { Crew } from '../support/crew.ts';
import { week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

test('a late pause of a frozen process does not undo the resume that a person requested after it', async () => {
  await using crew = await Crew.start(postgres, 2, ['a']);
  const api = crew.api('a');
  const { active: sender, standby: heir } = await crew.both();
  const thaw = Promise.withResolvers<void>();
  api.fault = ({ method }) => {
    if (method !== 'POST') return undefined;
    api.fault = () => undefined;
    sender.daemon.kill('SIGSTOP');
    return { kind: 'hold', until: thaw.promise };
  };
  const days = [{ daysAgo: 0, sent: 10, bounced: 8 }, ...week(40, 0).slice(1)];
  const mailbox = api.add('burns@a.example', { days });
  const told = (part: string) => crew.receiver.notified.filter(({ text }) => text.includes(part)).length;
  await until(
    'the standby to have paused it',
    () => mailbox.status === 'paused' && told('guard_acted') > 0,
    2 * minuteMs,
  );
  expect(api.posts(mailbox)).toHaveLength(2);
  // Its bounces are of the past.
  Object.assign(mailbox, { days: week(40, 0) });
  const resumed = await crew.command(heir, 'resume', mailbox.email, '--yes', '--reason', 'The list is clean.');
  expect(resumed.isDone ? mailbox.status : resumed.said).toBe('active');

  // Now the first POST comes.
  thaw.resolve();
  sender.daemon.kill('SIGCONT');
  await until('the late pause', () => api.posts(mailbox)[0]?.status !== 0);
  await until('the resume to be sent again', () => api.posts(mailbox).length === 4 && mailbox.status === 'active');
  await until('people to be told', () => told('a delayed request of Warmwarden took effect') === 1);
  const reads = api.reads('/v1/warmup', mailbox).length;
  await until('three more looks', () => api.reads('/v1/warmup', mailbox).length >= reads + 3);
  expect([api.posts(mailbox).length, mailbox.status]).toEqual([4, 'active']);
  expect(told('changed_by_others')).toBe(0);
});
