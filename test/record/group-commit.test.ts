// Calm answers wait for one another: what is judged on them, what a commit takes along, and what is lost when the store fails.
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Observation } from '../../src/account/record/observe.ts';
import { now } from '../store/records.ts';
import { failWrites } from '../support/failing-writes.ts';
import { answerOf, recording, statsOfToday as stats } from './recording.ts';

const everyMs = 500;
const ids = ['m1', 'm2', 'm3', 'm4', 'm5'];

const warmup = answerOf('warmup', now);
const dns = answerOf('dns', now);
const sentOf = (mailbox: Awaited<ReturnType<Awaited<ReturnType<typeof recording>>['stored']>>) =>
  mailbox?.stats?.answer.rows?.[0]?.sent;

/** As SQLite would: from now on no answer about that mailbox can be written. */
function refuseRowsOf(file: string, id: string): void {
  const database = new DatabaseSync(file);
  for (const event of ['INSERT', 'UPDATE'])
    database.exec(
      `CREATE TRIGGER refuse_${event}_${id} BEFORE ${event} ON observations WHEN new.mailbox_id = '${id}'
       BEGIN SELECT RAISE(ABORT, 'a bad row'); END`,
    );
  database.close();
}

/** Every mailbox judged as often as is remembered, and that committed. */
async function judged(commitEveryMs = everyMs) {
  const stage = await recording(ids, commitEveryMs);
  for (const id of ids) {
    await stage.answered(id, warmup);
    await stage.answered(id, stats(10));
    await stage.answered(id, stats(10));
  }
  await stage.group.flush();
  return stage;
}

test('calm answers are committed together after 500 ms, and shown then', async () => {
  await using stage = await judged();
  using writes = failWrites(() => false);
  for (const [index, id] of ids.entries()) await stage.answered(id, stats(20 + index));
  await stage.clock.advance(everyMs - 1);
  expect([writes.begun, ...ids.map((id) => sentOf(stage.mailbox(id)))]).toEqual([0, 10, 10, 10, 10, 10]);
  await stage.clock.advance(1);
  expect([writes.begun, ...ids.map((id) => sentOf(stage.mailbox(id)))]).toEqual([1, 20, 21, 22, 23, 24]);
  expect(await Promise.all(ids.map(async (id) => sentOf(await stage.stored(id))))).toEqual([20, 21, 22, 23, 24]);
  const { verdict, stats: read } = stage.mailbox('m1') ?? expect.fail();
  expect(await stage.stored('m1')).toMatchObject({ verdict, stats: read });
});

test('an entry of the list that moves nothing waits as an answer does, and comes again when it is lost', async () => {
  await using stage = await judged();
  using writes = failWrites(() => false);
  const list = (healthScore: number) => {
    const mailboxes = ids.map((id) => ({ ...(stage.mailbox(id)?.entry.answer ?? expect.fail()), healthScore }));
    return stage.recorder.listed({ at: now, answer: { mailboxes, truncated: false } });
  };
  const scores = () => ids.map((id) => stage.mailbox(id)?.entry.answer.healthScore);
  await list(98.6);
  expect([writes.begun, ...scores()]).toEqual([0, 98.5, 98.5, 98.5, 98.5, 98.5]);
  // A later list is compared with what waits.
  expect((await list(98.6))?.changed).toEqual([]);
  await stage.clock.advance(everyMs);
  expect([writes.begun, ...scores()]).toEqual([1, 98.6, 98.6, 98.6, 98.6, 98.6]);
  expect((await stage.stored('m1'))?.entry.answer.healthScore).toBe(98.6);
  refuseRowsOf(stage.file, 'm1');
  await list(98.7);
  await stage.clock.advance(everyMs);
  expect(scores()).toEqual([98.6, 98.7, 98.7, 98.7, 98.7]);
  expect((await list(98.7))?.changed.map(({ id }) => id)).toEqual(['m1']);
});

test('a later answer is judged on what waits, and with it committed', async () => {
  await using stage = await recording(ids, everyMs);
  await stage.answered('m1', warmup);
  await stage.answered('m2', dns);
  expect(stage.mailbox('m1')?.warmup).toBeNull();
  // A first judgement is remembered, so it is committed at once.
  await stage.answered('m1', stats(10));
  expect(stage.mailbox('m1')).toMatchObject({
    warmup: warmup.observed,
    verdict: { answer: { reason: 'ok' } },
  });
  expect(stage.mailbox('m2')?.dns).toEqual(dns.observed);
  expect(await stage.stored('m1')).toEqual(stage.mailbox('m1'));
});

test('several answers about one mailbox are one row each, and the row of the decision waits until it has lasted, or has ended', async () => {
  await using stage = await judged();
  const spans = async (limit: number) =>
    (await stage.store.decisionsOf('acme', 'm1', limit)).map(({ count, verdict }) => [count, verdict.sent]);
  const [[count = 0] = []] = await spans(1);
  for (const sent of [11, 12, 13]) await stage.answered('m1', stats(sent));
  await stage.answered('m1', dns);
  await stage.group.flush();
  const mailbox = stage.mailbox('m1') ?? expect.fail();
  expect(await stage.stored('m1')).toMatchObject({ verdict: mailbox.verdict, stats: mailbox.stats, dns: dns.observed });
  expect(mailbox.verdict?.answer.sent).toBe(13);
  expect(await spans(1)).toEqual([[count, 10]]);
  // Whoever asks is told the newest all the same.
  const { decisions } = await stage.store.entriesOf(mailbox, now + 1, 1);
  expect(decisions.map(({ verdict, days }) => [verdict.sent, days.at(-1)?.[1]])).toEqual([[13, 13]]);
  await stage.answered('m1', stats(14, 1));
  expect(await spans(2)).toEqual([
    [1, 14],
    [count + 3, 13],
  ]);
});

test('an answer that changes nothing is shown with the one that waits, not before it', async () => {
  await using stage = await judged();
  await stage.answered('m1', stats(11));
  await stage.answered('m1', { ...warmup, observed: { ...warmup.observed, at: now + 5 } } as Observation);
  expect([sentOf(stage.mailbox('m1')), stage.mailbox('m1')?.warmup?.at]).toEqual([10, now]);
  await stage.group.flush();
  expect([sentOf(stage.mailbox('m1')), stage.mailbox('m1')?.warmup?.at]).toEqual([11, now + 5]);
});

test('one row that the store refuses is lost and reported; the others are saved', async () => {
  await using stage = await judged();
  refuseRowsOf(stage.file, 'm3');
  for (const id of ids) await stage.answered(id, stats(50));
  const failures = stage.store.trouble.failures;
  await stage.group.flush();
  expect(await Promise.all(ids.map(async (id) => sentOf(await stage.stored(id))))).toEqual([50, 50, 10, 50, 50]);
  expect(stage.lost).toMatchObject([{ id: 'm3', route: 'stats', error: { message: 'a bad row' } }]);
  expect(stage.store.trouble.failures - failures).toBe(1);
  expect(sentOf(stage.mailbox('m3'))).toBe(10);
});

test('an answer that plans an action takes along what waits of its account; a bad row does not keep it', async () => {
  await using stage = await judged();
  refuseRowsOf(stage.file, 'm3');
  for (const id of ['m2', 'm3']) await stage.answered(id, stats(50));
  using writes = failWrites(() => false);
  await stage.answered('m1', stats(200, 40));
  await stage.answered('m1', stats(200, 41));
  expect((await stage.stored('m1'))?.action).toMatchObject({ state: 'planned' });
  expect([sentOf(await stage.stored('m2')), sentOf(await stage.stored('m3'))]).toEqual([50, 10]);
  expect([sentOf(stage.mailbox('m2')), sentOf(stage.mailbox('m3'))]).toEqual([50, 10]);
  expect([writes.begun, stage.lost.map(({ id }) => id)]).toEqual([2, ['m3']]);
  // What is read of a mailbox while an action of it is under way waits for nobody.
  await stage.answered('m1', dns);
  expect((await stage.stored('m1'))?.dns).toEqual(dns.observed);
});

test('a store that takes nothing: what was staged is lost, believed no more, and as if it had not been read', async () => {
  await using stage = await recording(ids, everyMs);
  await stage.answered('m1', warmup);
  await stage.answered('m2', dns);
  await stage.answered('m1', dns);
  {
    using _writes = failWrites(() => true);
    await stage.clock.advance(everyMs);
  }
  const lost = stage.lost.map(({ id, route }) => `${id} ${route}`);
  expect(lost.toSorted()).toEqual(['m1 dns', 'm1 warmup', 'm2 dns']);
  expect(stage.store.trouble.failures).toBe(1);
  expect([stage.group.mailbox('acme', 'm1'), stage.recorder.hasRead('m1', 'warmup')]).toEqual([
    stage.mailbox('m1'),
    false,
  ]);
  // Asked again, it is written although it says the same.
  await stage.answered('m1', warmup);
  await stage.group.flush();
  expect((await stage.stored('m1'))?.warmup).toEqual(warmup.observed);
});

test('an action whose commit fails leaves what waits where it was', async () => {
  await using stage = await judged();
  await stage.answered('m2', stats(50));
  {
    using _writes = failWrites(() => true, { at: 'commit' });
    await expect(stage.answered('m1', stats(200, 40))).rejects.toThrow('full');
  }
  expect([sentOf(stage.mailbox('m2')), stage.lost]).toEqual([10, []]);
  await stage.clock.advance(everyMs);
  expect(sentOf(await stage.stored('m2'))).toBe(50);
});

test('where every row is refused, the rest is not tried after three in a row', async () => {
  await using stage = await judged();
  for (const id of ids) refuseRowsOf(stage.file, id);
  for (const id of ids) await stage.answered(id, stats(50));
  const before = stage.refused.statements;
  await stage.group.flush();
  // All of them at once, then three.
  expect(stage.refused.statements - before).toBe(4);
  expect(stage.lost.map(({ id }) => id).toSorted()).toEqual(ids);
});

test('many calm answers are committed piece by piece, and a turn of the event loop is between two', async () => {
  const many = Array.from({ length: 450 }, (_, index) => `m${index}`);
  await using stage = await recording(many, everyMs);
  await Promise.all(many.map((id) => stage.answered(id, dns)));
  using writes = failWrites(() => false);
  let turns = 0;
  let counting = setImmediate(function count() {
    turns += 1;
    counting = setImmediate(count);
  });
  await stage.group.flush();
  clearImmediate(counting);
  expect(writes.begun).toBe(3);
  // Nine statements of 50 answers, and three commits.
  expect(turns).toBeGreaterThanOrEqual(8);
  const { mailboxes } = await stage.store.loadPicture();
  expect(mailboxes.map((mailbox) => mailbox.dns)).toEqual(many.map(() => dns.observed));
  expect(many.map((id) => stage.mailbox(id)?.dns)).toEqual(many.map(() => dns.observed));
});

test('when the store takes the first piece only, what was committed stays, and the rest is lost', async () => {
  const many = Array.from({ length: 450 }, (_, index) => `m${index}`);
  await using stage = await recording(many, everyMs);
  await Promise.all(many.map((id) => stage.answered(id, dns)));
  using writes = failWrites((nth) => nth > 1);
  await stage.group.flush();
  expect(writes.begun).toBe(2);
  expect(stage.lost).toHaveLength(250);
  expect(many.filter((id) => stage.mailbox(id)?.dns !== null)).toHaveLength(200);
});

test('a stop commits what is staged, and afterwards nothing waits', async () => {
  await using stage = await judged();
  await stage.answered('m1', stats(50));
  await stage.group.stop();
  expect(sentOf(await stage.stored('m1'))).toBe(50);
  await stage.answered('m1', stats(51));
  expect(sentOf(await stage.stored('m1'))).toBe(51);
});

test('what a large commit brings is shown in several turns of the event loop', async () => {
  const many = Array.from({ length: 120 }, (_, number) => `n${number}`);
  await using stage = await recording(many, everyMs);
  for (const id of many) await stage.answered(id, dns);
  const shown = () => many.filter((id) => stage.mailbox(id)?.dns).length;
  const counts = [shown()];
  const look = () => {
    counts.push(shown());
    if (shown() < many.length) setImmediate(look);
  };
  setImmediate(look);
  await stage.group.flush();
  counts.push(shown());
  expect([counts[0], shown()]).toEqual([0, many.length]);
  const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0));
  expect(Math.max(...steps)).toBeLessThanOrEqual(50);
});
