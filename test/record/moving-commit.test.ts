// Answers that move something: those that come together are one transaction, whatever it is that they move.
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Observation } from '../../src/account/record/observe.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { now } from '../store/records.ts';
import { failWrites } from '../support/failing-writes.ts';
import { answerOf, recording, statsOfToday } from './recording.ts';

const everyMs = 500;
const ids = Array.from({ length: 30 }, (_, index) => `m${index}`);

/** The mailbox has lost its connection, as its detail shows it. */
const disconnected: Observation = {
  route: 'mailbox',
  observed: {
    at: now,
    answer: {
      ...{ status: 'disconnected', dailyLimit: 40, warmupDay: 12, healthScore: 98.5 },
      ...{ connection: 'error', connectionError: 'IMAP: login failed' },
    },
  },
};

/** What is recorded of alerts, and whether it is what is shown. */
async function firing(stage: Awaited<ReturnType<typeof recording>>) {
  const stored = (await stage.store.loadPicture()).alerts.map(({ fingerprint, status }) => `${fingerprint} ${status}`);
  const shown = [...stage.fleet.alerts()].map(({ fingerprint, status }) => `${fingerprint} ${status}`);
  expect(stored.toSorted()).toEqual(shown.toSorted());
  return stored.filter((text) => text.endsWith(' firing')).length;
}

const refused = (file: string, id: string) => {
  using database = new DatabaseSync(file);
  for (const event of ['INSERT', 'UPDATE'])
    database.exec(
      `CREATE TRIGGER refuse_${event} BEFORE ${event} ON observations WHEN new.mailbox_id = '${id}'
       BEGIN SELECT RAISE(ABORT, 'a bad row'); END`,
    );
};

test('a storm of alerts is committed in pieces, and each answer is recorded when its caller hears of it', async () => {
  await using stage = await recording(ids, everyMs);
  using writes = failWrites(() => false);
  const looks = ids.flatMap((id) => [stage.answered(id, disconnected), stage.answered(id, disconnected)]);
  await Promise.all(looks);
  expect(await firing(stage)).toBe(ids.length);
  // Whoever comes first may go alone.
  expect(writes.begun).toBeLessThanOrEqual(2);
  expect(await stage.stored('m7')).toEqual(stage.mailbox('m7'));
  const news = await stage.store.outbox.unnotifiedTransitions(1_000);
  expect(news.map(({ transition }) => transition.alert.mailboxId).toSorted()).toEqual(ids.toSorted());
});

test('an answer ends the alert that another one began, whether that was committed or still waits', async () => {
  await using stage = await recording(ids, everyMs);
  const connected = answerOf('mailbox', now);
  const statuses = () => [...stage.fleet.alerts()].map(({ status }) => status);
  await Promise.all(ids.flatMap((id) => [stage.answered(id, disconnected), stage.answered(id, connected)]));
  expect([await firing(stage), statuses()]).toEqual([0, []]);
  const twice = (seen: Observation) => Promise.all([stage.answered('m1', seen), stage.answered('m1', seen)]);
  await twice(disconnected);
  expect([await firing(stage), statuses()]).toEqual([1, ['firing']]);
  await twice(connected);
  expect([await firing(stage), statuses()]).toEqual([0, []]);
});

test('more answers than one piece takes are several transactions', async () => {
  const many = Array.from({ length: 110 }, (_, index) => `m${index}`);
  await using stage = await recording(many, everyMs);
  using writes = failWrites(() => false);
  await Promise.all(many.map((id) => stage.answered(id, disconnected)));
  expect(writes.begun).toBeGreaterThan(1);
  expect([...stage.fleet.alerts()]).toHaveLength(many.length);
});

test('one that can not be written: all of its piece are told, nothing is shown, and then each goes by itself', async () => {
  await using stage = await recording(ids, everyMs);
  refused(stage.file, 'm3');
  const looks = async () => {
    const told = await Promise.allSettled(ids.map((id) => stage.answered(id, disconnected)));
    return told.flatMap(({ status }, index) => (status === 'rejected' ? [ids[index]] : []));
  };
  expect(await looks()).toEqual(ids);
  expect([...stage.fleet.alerts()]).toEqual([]);
  expect(ids.map((id) => stage.group.mailbox('acme', id)?.detail)).toEqual(ids.map(() => null));
  expect(await looks()).toEqual(['m3']);
  expect(await looks()).toEqual(['m3']);
  expect(await firing(stage)).toBe(ids.length - 1);
});

test('what else is done rests on what is committed: a list that comes meanwhile finds the alerts', async () => {
  await using stage = await recording(['m1', 'm2'], everyMs);
  await stage.answered('m1', answerOf('mailbox', now));
  const looks = [stage.answered('m1', disconnected), stage.answered('m1', disconnected)];
  const mailboxes = [{ ...(stage.mailbox('m2')?.entry.answer ?? expect.fail()) }];
  const list = stage.recorder.listed({ at: now, answer: { mailboxes, truncated: false } });
  await Promise.all([...looks, list]);
  expect(stage.mailbox('m1')).toMatchObject({ missingLists: 1, detail: disconnected.observed });
  expect(await stage.stored('m1')).toEqual(stage.mailbox('m1'));
});

/** 99 of a limit of 100 bounces in ten thousand: which is near depends on the policy. */
async function bouncing(stage: Awaited<ReturnType<typeof recording>>) {
  await Promise.all(
    ids.flatMap((id) => [
      stage.answered(id, answerOf('warmup', now)),
      stage.answered(id, statsOfToday(1_000, 7)),
      stage.answered(id, statsOfToday(1_000, 7)),
    ]),
  );
  await stage.group.flush();
  expect(await firing(stage)).toBe(0);
  stage.reload({ ...defaultPolicy, nearLimitPpm: 500_000 });
}

test('mailboxes that a reload has judged again together are committed together', async () => {
  await using stage = await recording(ids, everyMs);
  await bouncing(stage);
  using writes = failWrites(() => false);
  const judge = () => Promise.all(ids.map((id) => stage.recorder.judgedAgain(id)));
  await judge();
  expect([...stage.fleet.alerts()].map(({ rule }) => rule)).toEqual(ids.map(() => 'bounce_near_limit'));
  expect(writes.begun).toBe(1);
  expect(await stage.stored('m7')).toEqual(stage.mailbox('m7'));
  await judge();
  expect(await firing(stage)).toBe(ids.length);
});

test('when they can not be committed, whoever had them judged hears of it, and nothing is shown', async () => {
  await using stage = await recording(ids, everyMs);
  await bouncing(stage);
  using database = new DatabaseSync(stage.file);
  database.exec("CREATE TRIGGER refuse BEFORE INSERT ON alerts BEGIN SELECT RAISE(ABORT, 'no room'); END");
  const told = await Promise.allSettled(ids.map((id) => stage.recorder.judgedAgain(id)));
  expect(told.map(({ status }) => status)).toEqual(ids.map(() => 'rejected'));
  expect([...stage.fleet.alerts()]).toEqual([]);
  database.exec('DROP TRIGGER refuse');
  await Promise.all(ids.map((id) => stage.recorder.judgedAgain(id)));
  expect([...stage.fleet.alerts()]).toHaveLength(ids.length);
});
