// kill -9 of a real process while calm answers come in: the store lacks at most the newest, which are asked again; SIGTERM loses none.
import { setTimeout as pass } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { StatsRow } from '../../src/core/answers.ts';
import { Store } from '../../src/store/store.ts';
import { Stage } from '../support/guarded.ts';
import { type OtherMailbox, week } from '../support/other-api.ts';
import { until } from '../support/until.ts';

const rounds = 6;
const boxes = 12;
/** Answers are committed after 500 ms; what is as old as this is there on any machine. */
const surelyCommittedMs = 3_000;
/** Longer than a group waits, so that some kills come right after a commit and some right before one. */
const killSpreadMs = 700;

interface Told {
  readonly at: number;
  readonly mailboxId: string;
  /** Emails of today: one more with each answer. */
  readonly sent: number;
}

/** Emails of the newest day. */
const newestSent = (rows: readonly StatsRow[] = []) =>
  rows.toSorted((one, other) => String(one.date).localeCompare(String(other.date))).at(-1)?.sent ?? 0;

/** Each answer about statistics differs from the one before; what was told is written down. */
function sendingOn(stage: Stage, fleet: readonly OtherMailbox[]): readonly Told[] {
  const told: Told[] = [];
  stage.api.fault = (asked) => {
    const mailbox = fleet.find(({ id }) => id === asked.mailboxId);
    if (!mailbox || asked.path !== '/v1/stats') return undefined;
    const sent = sentIn(told, mailbox.id) + 1;
    mailbox.days = [{ daysAgo: 0, sent, bounced: 0 }, ...week(20, 0).slice(1)];
    told.push({ at: Date.now(), mailboxId: mailbox.id, sent });
    return undefined;
  };
  return told;
}

const sentIn = (told: readonly Told[], id: string, until = Number.POSITIVE_INFINITY) =>
  told.findLast(({ mailboxId, at }) => mailboxId === id && at <= until)?.sent ?? 0;

/** What a process that starts now would find: emails of today, by mailbox. */
async function storedSent(stage: Stage): Promise<ReadonlyMap<string, number>> {
  const store = await Store.open(stage.workplace.path('data/warmwarden.db'), Date.now());
  try {
    const { mailboxes } = await store.loadPicture();
    return new Map(mailboxes.map(({ id, stats }) => [id, newestSent(stats?.answer.rows ?? [])]));
  } finally {
    await store.close();
  }
}

test('a kill -9 forgets only the newest calm answers, and the next process asks again', async () => {
  await using stage = await Stage.open();
  const fleet = Array.from({ length: boxes }, (_, index) => stage.api.add(`box${index}@fleet.example`));
  const told = sendingOn(stage, fleet);
  let forgotten = 0;
  for (let round = 0; round < rounds; round += 1) {
    const began = Date.now();
    const daemon = stage.start();
    const readAgain = ({ id }: OtherMailbox) =>
      told.filter((one) => one.mailboxId === id && one.at >= began).length >= 3;
    await until('every mailbox to be read three times', () => fleet.every(readAgain));
    const read = told.length;
    // The answers come in bursts: the kill comes within the next one, or a little later.
    await until('the next answer', () => told.length > read);
    await pass(Math.random() * killSpreadMs);
    const killedAt = Date.now();
    await daemon.killNow();
    const stored = await storedSent(stage);
    for (const { id } of fleet) {
      const saved = stored.get(id) ?? 0;
      expect(saved).toBeGreaterThanOrEqual(sentIn(told, id, killedAt - surelyCommittedMs));
      if (saved < sentIn(told, id)) forgotten += 1;
    }
  }
  // Otherwise no kill came before a commit, and nothing was proven.
  expect(forgotten).toBeGreaterThan(0);
  const daemon = stage.start();
  const before = told.length;
  await until('every mailbox to be asked again', () => told.length >= before + 3 * boxes);
  daemon.kill('SIGTERM');
  expect(await daemon.ended).toMatchObject({ code: 0 });
  const stored = await storedSent(stage);
  // What it was being told at that moment it need not have read.
  expect(fleet.filter(({ id }) => (stored.get(id) ?? 0) < sentIn(told, id) - 1)).toEqual([]);
});
