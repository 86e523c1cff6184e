// The two ways into the store: what moves an alert or an action at once, everything else together each 5 s.

import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Observation } from '../../src/account/record/observe.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { decisionsOf, now } from '../store/records.ts';
import { failWrites } from '../support/failing-writes.ts';
import { answerOf, recording, statsOfToday as stats } from './recording.ts';

const everyMs = 5 * secondMs;
const ids = ['m1', 'm2', 'm3', 'm4', 'm5'];

const warmup = answerOf('warmup', now);
/** The mailbox has lost its connection: seen twice, that is an alert. */
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

/** As SQLite would: from now on no answer about that mailbox can be written. */
function refuseRowsOf(file: string, id: string): () => void {
  const events = ['INSERT', 'UPDATE'];
  const run = (statement: (event: string) => string) => {
    using database = new DatabaseSync(file);
    for (const event of events) database.exec(statement(event));
  };
  run(
    (event) => `CREATE TRIGGER refuse_${event}_${id} BEFORE ${event} ON observations WHEN new.mailbox_id = '${id}'
       BEGIN SELECT RAISE(ABORT, 'a bad row'); END`,
  );
  return () => run((event) => `DROP TRIGGER refuse_${event}_${id}`);
}

/** Every mailbox judged as often as is remembered, and that committed. */
async function judged() {
  const stage = await recording(ids);
  for (const id of ids) for (const answer of [warmup, stats(10), stats(10)]) await stage.answered(id, answer);
  await stage.group.flush();
  const sent = (id: string) => stage.mailbox(id)?.stats?.answer.rows?.[0]?.sent;
  /** Today's emails as a process would find them that starts after a kill -9. */
  const stored = async () => {
    const { mailboxes } = await stage.store.loadPicture();
    return Object.fromEntries(mailboxes.map(({ id, stats: read }) => [id, read?.answer.rows?.[0]?.sent]));
  };
  return { ...stage, sent, all: () => ids.map(sent), sentStored: stored };
}

test('answers that move nothing are shown at once, and committed together within 5 s', async () => {
  await using stage = await judged();
  using writes = failWrites(() => false);
  for (const [index, id] of ids.entries()) await stage.answered(id, stats(20 + index));
  expect(stage.all()).toEqual([20, 21, 22, 23, 24]);
  await stage.clock.advance(everyMs - 1);
  expect(writes.begun).toBe(0);
  await stage.clock.advance(1);
  expect(writes.begun).toBe(1);
  const { verdict, stats: read } = stage.mailbox('m1') ?? expect.fail();
  expect(await stage.stored('m1')).toMatchObject({ verdict, stats: read });
  expect(await stage.sentStored()).toEqual({ m1: 20, m2: 21, m3: 22, m4: 23, m5: 24 });
});

test('an answer that moves an alert or an action is committed before it is shown, with what waits of its mailbox', async () => {
  await using stage = await judged();
  using writes = failWrites(() => false);
  await stage.answered('m1', stats(50));
  await stage.answered('m2', stats(50));
  await stage.answered('m1', disconnected);
  await stage.answered('m1', disconnected);
  expect([...stage.fleet.alerts()].map(({ status }) => status)).toEqual(['firing']);
  expect([writes.begun, (await stage.sentStored())['m1'], (await stage.sentStored())['m2']]).toEqual([2, 50, 10]);
  await stage.answered('m3', stats(200, 40));
  await stage.answered('m3', stats(200, 41));
  expect([writes.begun, stage.mailbox('m3')?.action?.state]).toEqual([4, 'planned']);
  expect(await stage.stored('m3')).toEqual(stage.mailbox('m3'));
});

test('one that can not be committed changes nothing, and what waits of its mailbox waits on', async () => {
  await using stage = await judged();
  await stage.answered('m1', stats(50));
  {
    using _writes = failWrites(() => true, { at: 'commit' });
    await expect(stage.answered('m1', stats(200, 40))).rejects.toThrow('full');
  }
  expect([stage.sent('m1'), stage.mailbox('m1')?.action]).toEqual([50, null]);
  await stage.clock.advance(everyMs);
  expect((await stage.sentStored())['m1']).toBe(50);
});

test('a store that takes nothing is tried again after 2 seconds, and takes everything in the end', async () => {
  await using stage = await judged();
  for (const id of ids) await stage.answered(id, stats(50));
  {
    using writes = failWrites(() => true);
    await stage.clock.advance(everyMs + 9 * secondMs);
    expect(writes.begun).toBe(5);
  }
  expect(stage.all()).toEqual(ids.map(() => 50));
  await stage.clock.advance(2 * secondMs);
  expect(Object.values(await stage.sentStored())).toEqual(ids.map(() => 50));
});

test('a row that the store refuses keeps no other from it for long, and is written once it is accepted', async () => {
  await using stage = await judged();
  const admit = refuseRowsOf(stage.file, 'm3');
  for (const id of ids) await stage.answered(id, stats(50));
  await stage.clock.advance(everyMs + 12 * secondMs);
  expect(await stage.sentStored()).toEqual({ m1: 50, m2: 50, m3: 10, m4: 50, m5: 50 });
  admit();
  await stage.clock.advance(4 * secondMs);
  expect((await stage.sentStored())['m3']).toBe(50);
});

test('the row of a decision counts every judgement, and a new decision begins where it ended', async () => {
  await using stage = await judged();
  const spans = async (limit: number) =>
    (await decisionsOf(stage.store, 'acme', 'm1', limit)).map(({ count, verdict }) => [count, verdict.sent]);
  await stage.answered('m1', stats(11));
  await stage.group.flush();
  const [[count = 0] = []] = await spans(1);
  for (const sent of [11, 12, 13, 13]) await stage.answered('m1', stats(sent));
  await stage.group.flush();
  expect(await spans(1)).toEqual([[count + 4, 13]]);
  await stage.answered('m1', stats(13));
  await stage.answered('m1', stats(14, 1));
  const ended = [count + 5, 13];
  expect(await spans(2)).toEqual([[1, 14], ended]);
  for (const sent of [15, 16]) await stage.answered('m1', stats(sent, 1));
  await stage.group.flush();
  expect(await spans(2)).toEqual([[3, 16], ended]);
});

test('an unchanged verdict waits for an hour, whatever else is written, and then counts every judgement', async () => {
  await using stage = await judged();
  const count = async () => (await decisionsOf(stage.store, 'acme', 'm1', 1))[0]?.count;
  // Of three judgements the first is stored: it began the decision.
  await stage.answered('m1', stats(10));
  await stage.answered('m1', answerOf('mailbox', now));
  await stage.group.flush();
  expect(await count()).toBe(1);
  await stage.clock.advance(hourMs);
  await stage.answered('m1', stats(10));
  await stage.clock.advance(everyMs);
  expect(await count()).toBe(4);
});

test.each([
  ['read last', ['warmup', 'stats']],
  ['judged by the warm-up', ['stats', 'warmup']],
] as const)('the stored verdict is not older than statistics %s, which show the same counts', async (_, routes) => {
  const before = await judged();
  await before[Symbol.asyncDispose]();
  await using stage = await recording(ids, before.file);
  await stage.clock.advance(10 * minuteMs);
  const { answer } = stage.mailbox('m1')?.stats ?? expect.fail();
  const opened = { rows: answer.rows?.map((day) => ({ ...day, opened: 5 })) ?? [] };
  for (const route of routes) {
    const observed = { at: stage.clock.now(), answer: route === 'stats' ? opened : warmup.observed.answer };
    await stage.answered('m1', { route, observed } as Observation);
    await stage.clock.advance(everyMs);
  }
  const stored = (await stage.stored('m1')) ?? expect.fail();
  expect(stored.verdict?.at).toBeGreaterThanOrEqual(stored.stats?.at ?? Number.NaN);
});

test('a start writes nothing that the store has: an unchanged answer waits for an hour, a changed one is written', async () => {
  const before = await judged();
  // The third judged answer: the mailbox is no longer new.
  await before.answered('m1', stats(10));
  await before[Symbol.asyncDispose]();
  await using stage = await recording(ids, before.file);
  const answers = (sent: number) =>
    [warmup, stats(sent)].map(
      ({ route, observed }) => ({ route, observed: { ...observed, at: stage.clock.now() } }) as Observation,
    );
  const written = async (sent: number) => {
    using writes = failWrites(() => false);
    for (const answer of answers(sent)) await stage.answered('m1', answer);
    await stage.clock.advance(everyMs);
    return writes.begun;
  };
  expect(await written(10)).toBe(0);
  await stage.clock.advance(hourMs - minuteMs);
  expect(await written(10)).toBe(0);
  await stage.clock.advance(minuteMs);
  expect([await written(10), await written(11)]).toEqual([1, 1]);
  const { stats: read, verdict } = (await stage.stored('m1')) ?? expect.fail();
  expect([read?.at, verdict?.at]).toEqual([stage.mailbox('m1')?.stats?.at, stage.mailbox('m1')?.verdict?.at]);
});
