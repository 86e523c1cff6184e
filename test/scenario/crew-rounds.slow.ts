// Rounds of what can befall an active process and its standbys, at moments drawn by chance, while mailboxes breach and a person commands: kill -9, a freeze
// beyond the deadline, a database that is out of reach, a cut connection, a lost COMMIT, a lost reply, a restart. Nothing twice, nothing lost.
// WARMWARDEN_ROUNDS: how many in all, 4 by default; WARMWARDEN_SEED=N draws the same again (not the machine's moments).
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { minuteMs } from '../../src/core/time.ts';
import { type Chance, chanceFrom } from '../soak/chance.ts';
import { MessageBook } from '../soak/checkers.ts';
import { Crew, type Slot } from '../support/crew.ts';
import { type OtherMailbox, week } from '../support/other-api.ts';
import { TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

const seed = Number(process.env['WARMWARDEN_SEED'] ?? Date.now() % 1_000_000);
const rounds = Number(process.env['WARMWARDEN_ROUNDS'] ?? 4);
/** A round mostly waits for a takeover: so crews, with a database each, play side by side. */
const crews = rounds >= 20 ? 4 : 2;
const accounts = ['a', 'b', 'c', 'd'];

/** They take the whole process away for a while: each process meets one of them a round. */
const strokes = ['kill', 'freeze', 'away', 'restart'] as const;
const cuts = ['cut', 'commit_lost', 'reply_lost'] as const;
type Fault = (typeof strokes | typeof cuts)[number];

const withinMs = 6_000;
/** The deadline is 15 s. */
const beyondDeadlineMs = 16_500;
/** An inherited intent waits 25 s; what was not sent is tried again a minute later. */
const settledWithinMs = 6 * minuteMs;
const lookEveryMs = 250;
const emergency = [{ daysAgo: 0, sent: 10, bounced: 8 }, ...week(40, 0).slice(1)];

/** A fault and its end. */
async function strike(crew: Crew, chance: Chance, slot: Slot, fault: Fault): Promise<void> {
  await sleep(chance.below(withinMs));
  const { daemon, proxy } = slot;
  if (fault === 'cut') proxy.cutAll();
  else if (fault === 'commit_lost' || fault === 'reply_lost')
    proxy.cutNext(fault === 'commit_lost' ? 'before' : 'after');
  else if (fault === 'restart' || fault === 'kill') {
    daemon.kill(fault === 'kill' ? 'SIGKILL' : 'SIGTERM');
    const { code } = await daemon.ended;
    if (fault === 'restart') expect(code).toBe(0);
    else await sleep(chance.below(withinMs));
    crew.restart(slot);
  } else {
    if (fault === 'freeze') daemon.kill('SIGSTOP');
    else proxy.close();
    await sleep(beyondDeadlineMs + chance.below(withinMs));
    if (fault === 'freeze') daemon.kill('SIGCONT');
    else proxy.open();
  }
}

/** One fault that takes a process away, and up to two more. */
async function draw(crew: Crew, chance: Chance): Promise<Map<Slot, Fault>> {
  const first = chance.below(2) < 1 ? await crew.active() : null;
  const drawn = new Map<Slot, Fault>([[first ?? chance.pick(crew.slots), chance.pick(strokes)]]);
  for (let more = Math.floor(chance.below(3)); more > 0; more -= 1) {
    const slot = chance.pick(crew.slots);
    if (!drawn.has(slot)) drawn.set(slot, chance.pick([...strokes, ...cuts]));
  }
  return drawn;
}

/** What is under way still, as one text; null: nothing. */
async function underWay(crew: Crew, breaches: readonly OtherMailbox[]): Promise<string | null> {
  const parts = [
    `SELECT 'breach ' || id FROM unnest(ARRAY[${breaches.map(({ id }) => `'${id}'`)}]) AS breach(id)
      WHERE NOT EXISTS (SELECT FROM warmwarden.actions a WHERE a.mailbox_id = breach.id AND a.state = 'confirmed')`,
    "SELECT state || ' action ' || action FROM warmwarden.actions WHERE state IN ('open', 'planned')",
    "SELECT 'transition ' || transition FROM warmwarden.transitions WHERE notified = 0",
    "SELECT 'delivery ' || delivery FROM warmwarden.deliveries WHERE state = 'pending'",
    "SELECT 'command' FROM warmwarden.operator_commands WHERE result IS NULL",
  ];
  const sql = `SELECT string_agg(what, E'\\n') AS text FROM (${parts.join(' UNION ALL ')}) AS open(what)`;
  return (await crew.query<{ text: string | null }>(sql))[0]?.text ?? null;
}

/** Ids of confirmed actions of a mailbox; one that was dropped before its first POST is planned again. */
async function actionsOf(crew: Crew, { id }: OtherMailbox): Promise<readonly string[]> {
  const rows = await crew.query<{ id: string }>(
    `SELECT action::json ->> 'id' AS id FROM warmwarden.actions WHERE mailbox_id = '${id}'
     AND NOT (state = 'dropped' AND (action::json ->> 'attempts')::int = 0)`,
  );
  return rows.map((row) => row.id);
}

const postgres = await TestPostgres.start();
afterAll(() => postgres[Symbol.asyncDispose]());

async function play(crew: Crew, chance: Chance, book: MessageBook, round: number): Promise<string> {
  const drawn = await draw(crew, chance);
  const story = `WARMWARDEN_SEED=${seed}, round ${round}: ${[...drawn.values()]}`;
  const add = (name: string, given: Partial<OtherMailbox>) => {
    const account = chance.pick(accounts);
    return { account, mailbox: crew.api(account).add(`${name}${round}@${account}.example`, given) };
  };
  const breaches = [add('breach', { days: week(40, 4) }), add('burst', { days: emergency })];
  const calm = add('calm', {});
  const command = async () => {
    const known = `SELECT FROM warmwarden.mailboxes WHERE mailbox_id = '${calm.mailbox.id}'`;
    await until('the mailbox to be known', async () => (await crew.query(known)).length > 0, settledWithinMs);
    await sleep(chance.below(withinMs));
    const slot = (await crew.active()) ?? chance.pick(crew.slots);
    return crew.command(slot, 'pause', calm.mailbox.email, '--yes', '--reason', 'a test');
  };
  const [{ isDone }] = await Promise.all([
    command(),
    ...[...drawn].map(([slot, fault]) => strike(crew, chance, slot, fault)),
  ]);
  let left: string | null = 'not looked at yet';
  const settled = async () => {
    await sleep(lookEveryMs);
    left = await underWay(
      crew,
      breaches.map(({ mailbox }) => mailbox),
    );
    return left === null;
  };
  await until('everything to be settled', settled, settledWithinMs).catch((error: unknown) => {
    throw new Error(`${error} (${story}):\n${left}`);
  });
  await crew.untilActive();
  const reads = () => breaches.map(({ account, mailbox }) => crew.api(account).reads('/v1/stats', mailbox).length);
  const before = reads();
  await until('three more readings', () => reads().every((count, index) => count >= (before[index] ?? 0) + 3));
  book.take(crew.receiver.notified);
  // A process that froze just before it sent sends when it wakes, after the next active process did.
  const most = [...drawn.values()].includes('freeze') ? 2 : 1;
  for (const { account, mailbox } of breaches) {
    const [action = '', ...others] = await actionsOf(crew, mailbox);
    expect([mailbox.email, action !== '', others], story).toEqual([mailbox.email, true, []]);
    expect(
      book.events.filter((event) => event === `guard_acted ${action}:confirmed`),
      story,
    ).toHaveLength(1);
    expect(crew.api(account).posts(mailbox).length, story).toBeLessThanOrEqual(most);
  }
  const asked = await actionsOf(crew, calm.mailbox);
  expect(asked.length, story).toBeLessThanOrEqual(1);
  if (isDone) expect([asked.length, calm.mailbox.status], story).toEqual([1, 'paused']);
  for (const { account, mailbox } of [...breaches, calm]) crew.api(account).mailboxes.delete(mailbox.id);
  return story;
}

test.concurrent.each(Array.from({ length: crews }, (_, index) => index))(
  `an active process and its standbys do nothing twice and lose nothing through kills, freezes, outages, cuts, lost COMMITs and restarts (crew %i, WARMWARDEN_SEED=${seed})`,
  async (index) => {
    await using crew = await Crew.start(postgres, index % 2 === 0 ? 3 : 2, accounts);
    const [chance, book] = [chanceFrom(seed + index), new MessageBook()];
    for (let round = 1; round <= Math.ceil(rounds / crews); round += 1) {
      const story = await play(crew, chance, book, round);
      expect([book.lost(), book.reworded()], story).toEqual([[], []]);
      // A process that cannot reach the database tells so itself, and knows of no other.
      expect(
        book.disorder.filter((one) => !one.includes('store_failing')),
        story,
      ).toEqual([]);
    }
  },
  (10 + 2 * rounds) * minuteMs,
);
