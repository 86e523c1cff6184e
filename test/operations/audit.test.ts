// The audit log: written before a command is done and after it, told once, and honest about what was interrupted.
import { beforeEach, expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import type { CommandRooms } from '../../src/operations/audit.ts';
import { auditing, endInterrupted } from '../../src/operations/audit.ts';
import type { Store } from '../../src/store/store.ts';
import type { MovedClock } from '../../tools/simulator/moved-clock.ts';
import { now } from '../store/records.ts';
import { failWrites } from '../support/failing-writes.ts';
import { openRooms } from './rooms.ts';

const ann = { by: 'ann', reason: 'the list is bad' };
const bob = { account: 'acme', id: 'm1', email: 'bob@acme.example' };
const pauseBob = { name: 'pause', command: 'pause bob@acme.example', account: 'acme', mailboxes: [bob] };
const reload = { name: 'reload', command: 'reload', account: null, mailboxes: [] };
const everything = { since: 0, mailbox: null, limit: 10 };

let store: Store;
let clock: MovedClock;
let rooms: CommandRooms;

beforeEach(async () => {
  ({ clock, store, rooms } = await openRooms());
});

const notified = async () => (await store.outbox.unnotifiedTransitions(10)).map(({ transition }) => transition);

test('a command is written before it is done, and then with its outcome, for people to read', async () => {
  const audited = auditing(rooms);
  const outcome = await audited(ann, pauseBob, async () => {
    expect(await store.audit.commands(everything)).toMatchObject([{ ...ann, ...pauseBob, end: null, outcome: '' }]);
    await clock.advance(minuteMs);
    return { result: 'done', messages: ['Paused.', 'Read back.'] };
  });
  expect(outcome.result).toBe('done');
  expect(await store.audit.commands(everything)).toMatchObject([
    { ...ann, ...pauseBob, at: now, end: 'done', outcome: 'Paused.\nRead back.', endedAt: now + minuteMs },
  ]);
  const [event, ...others] = await notified();
  expect(others).toEqual([]);
  expect(event).toMatchObject({
    kind: 'event',
    alert: { rule: 'operator_acted', severity: 'info', account: 'acme', mailboxId: 'm1', email: 'bob@acme.example' },
  });
  expect(event?.alert.facts).toMatchObject({
    title: 'ann ran “pause bob@acme.example”',
    sentences: ['Paused.', 'Read back.', 'Reason: the list is bad.'],
  });
});

test('a command that the store cannot record is refused with the cause and what to do', async () => {
  const audited = auditing(rooms);
  const told = /^The store is failing: database or disk is full\. Free up space on the disk of .*w\.db; /;
  using writes = failWrites(() => true);
  await expect(audited(ann, reload, async () => ({ result: 'done', messages: [] }))).rejects.toThrow(told);
  writes[Symbol.dispose]();
  const during = audited(ann, reload, async () => {
    using _ = failWrites(() => true);
    await store.audit.beginCommand({ ...pauseBob, ...ann, at: now });
    return { result: 'done', messages: [] };
  });
  await expect(during).rejects.toThrow(told);
  expect((await store.audit.commands(everything))[0]).toMatchObject({
    end: 'failed',
    outcome: expect.stringMatching(told),
  });
});

test('nothing is told where there was nothing to do, or of a refused configuration, which has an alert; a failure and an error are', async () => {
  const audited = auditing(rooms);
  await audited(ann, pauseBob, async () => ({ result: 'no_change', messages: ['No change needed.'] }));
  expect(await notified()).toEqual([]);
  await audited(ann, reload, async () => ({ result: 'invalid', messages: ['Wrong.'] }));
  expect(await notified()).toEqual([]);
  await audited(ann, pauseBob, async () => ({ result: 'failed', messages: ['Refused.'] }));
  const broken = audited(ann, reload, async () => {
    throw new Error('the disk is full');
  });
  await expect(broken).rejects.toThrow('the disk is full');
  expect((await notified()).map(({ alert }) => alert.facts.title)).toEqual([
    'ann ran “pause bob@acme.example”, which FAILED',
    'ann ran “reload”, which FAILED',
  ]);
  const ends = (await store.audit.commands(everything)).map(({ end, outcome }) => [end, outcome]);
  expect(ends).toEqual([
    ['failed', 'the disk is full'],
    ['failed', 'Refused.'],
    ['failed', 'Wrong.'],
    ['no_change', 'No change needed.'],
  ]);
});

test('what a killed process had begun is told by the next as interrupted, once', async () => {
  await store.audit.beginCommand({ ...pauseBob, ...ann, at: now });
  await endInterrupted(rooms);
  await endInterrupted(rooms);
  expect(await store.audit.commands(everything)).toMatchObject([{ end: 'interrupted' }]);
  expect((await notified()).map(({ alert }) => alert.facts.title)).toEqual([
    'ann ran “pause bob@acme.example”, and the outcome is not known',
  ]);
});
