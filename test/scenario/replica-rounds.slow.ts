// Rounds of what can befall replicas, at moments nobody chose, while mailboxes breach and people command: kill -9, a freeze
// beyond the deadline, a database that is out of reach, a cut connection, a lost COMMIT, a lost reply, a restart. Nothing twice, nothing lost.
// WARMWARDEN_REPLICA_ROUNDS: how many in all, 4 by default; WARMWARDEN_SEED=N draws the same again (not the machine's moments).
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { chanceFrom } from '../soak/chance.ts';
import { TestPostgres } from '../support/postgres.ts';
import { ReplicaCrew } from '../support/replica-crew.ts';
import { until } from '../support/until.ts';
import { Books, type Findings, underWay } from './replica-books.ts';
import { Disturbance, type Round } from './replica-round.ts';

const seed = Number(process.env['WARMWARDEN_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['WARMWARDEN_REPLICA_ROUNDS'] ?? 4);
/** A round mostly waits for a takeover: so crews, with a database each, play side by side. */
const crews = rounds > 20 ? 4 : 2;
const accounts = ['a', 'b', 'c', 'd'];
const lookEveryMs = 250;
/** An inherited intent waits 25 s; what was not sent is tried again a minute later. */
const settledWithinMs = 6 * minuteMs;

const nothing: Findings = {
  notActedOnce: [],
  notToldOnce: [],
  notCommandedOnce: [],
  repeatedPosts: [],
  badMessages: [],
  disorder: [],
};

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await TestPostgres.start();
});
afterAll(() => postgres[Symbol.asyncDispose]());

/** Until each account has one replica and everything of the round is done and told. */
async function settle(crew: ReplicaCrew, { breaches, story }: Round): Promise<void> {
  let left: string | null = 'not looked at yet';
  const settled = async () => {
    await sleep(lookEveryMs);
    const [row] = await crew.query<{ text: string | null }>(underWay(breaches));
    left = row?.text ?? null;
    return left === null;
  };
  await until('everything to be settled', settled, settledWithinMs).catch((error: unknown) => {
    throw new Error(`${String(error)} (WARMWARDEN_SEED=${seed}; ${story.join(', ')}):\n${left}`);
  });
  await crew.untilShared();
}

/** A second POST or message would come with one of the next readings; and no command is left open. */
async function untilQuiet(crew: ReplicaCrew, { breaches }: Round): Promise<void> {
  const read = () => breaches.map(({ account, mailbox }) => crew.api(account).reads('/v1/stats', mailbox).length);
  const before = read();
  await until('three more readings', () => read().every((count, index) => count >= (before[index] ?? 0) + 3));
  await until('every command to have an end', async () => {
    await sleep(lookEveryMs);
    return (await crew.query('SELECT 1 FROM warmwarden.operator_commands WHERE result IS NULL')).length === 0;
  });
}

async function play(crew: ReplicaCrew, index: number): Promise<object> {
  const disturbance = new Disturbance(crew, chanceFrom(seed + index));
  const books = new Books(crew);
  const played: Round[] = [];
  const check = async (last: readonly Round[]) => {
    const stories = last.map(({ story }) => story.join(', '));
    expect({ seed, stories, ...(await books.check(last)) }).toEqual({ seed, stories, ...nothing });
  };
  for (let left = Math.ceil(rounds / crews); left > 0; left -= 1) {
    const round = await disturbance.round();
    played.push(round);
    await settle(crew, round);
    // What the round before led to is looked at once more, and leaves the fleet.
    await check(played.slice(-2));
    for (const { account, mailbox } of [...(played.at(-2)?.breaches ?? []), ...(played.at(-2)?.commands ?? [])])
      crew.api(account).mailboxes.delete(mailbox.id);
  }
  const last = played.slice(-1);
  for (const round of last) await untilQuiet(crew, round);
  await check(last);
  const faults = Object.groupBy(
    played.flatMap((round) => round.faults),
    (fault) => fault,
  );
  const commands = played.flatMap((round) => round.commands);
  return {
    rounds: played.length,
    ...Object.fromEntries(Object.entries(faults).map(([fault, all]) => [fault, all.length])),
    breaches: played.flatMap(({ breaches }) => breaches).length,
    furtherTries: books.tries,
    latePosts: books.latePosts,
    commands: commands.length,
    commandsDone: commands.filter(({ isDone }) => isDone).length,
    // For people: a replica that was reached may be gone, or not know the mailbox yet.
    notDone: commands.filter(({ isDone }) => !isDone).map(({ said }) => said.trim()),
    repeatedMessages: books.repeats,
  };
}

describe.concurrent('replicas through kills, freezes, outages, cuts, lost COMMITs and restarts', () => {
  test.each(Array.from({ length: crews }, (_, index) => index))(
    `do nothing twice and lose nothing (crew %i, WARMWARDEN_SEED=${seed})`,
    async (index) => {
      const replicas = index % 2 === 0 ? 3 : 2;
      await using crew = await ReplicaCrew.start(postgres, replicas, accounts);
      const report = await play(crew, index);
      process.stdout.write(`${JSON.stringify({ seed, crew: index, replicas, ...report })}\n`);
    },
    (10 + 2 * rounds) * minuteMs,
  );
});
