// Commands over several replicas on one real store: who carries them out, what comes back, and what is said when nobody answers.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { CommandOutcome, DaemonCommands } from '../../src/core/operator-command.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { Answering } from '../../src/operations/answering.ts';
import { Asking } from '../../src/operations/asking.ts';
import { News } from '../../src/operations/audit.ts';
import { commandsEverywhere, together } from '../../src/operations/everywhere.ts';
import type { Membership, Replica, Scope } from '../../src/store/replicas/membership.ts';
import { Store } from '../../src/store/store.ts';
import { Loops } from '../../src/world/loop.ts';
import { type MovedClock, movedClock, worldOn } from '../../src/world/world.ts';
import { arrivedMailbox, noAlerts, now } from '../store/records.ts';

const who = { by: 'ann', reason: 'a look first' };
const ofReplica: Readonly<Record<string, readonly Scope[]>> = { a: ['account:acme', 'notify'], b: ['account:beta'] };

let folder: string;
let store: Store;
let clock: MovedClock;
let living: Set<string>;
/** What each replica carried out, in order. */
let carriedOut: string[];
let ends: (() => Promise<void>)[];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'warmwarden-everywhere-'));
  clock = movedClock(now);
  store = await Store.open(join(folder, 'w.db'), now);
  living = new Set(['a', 'b']);
  carriedOut = [];
  ends = [];
});

afterEach(async () => {
  for (const end of ends) {
    const over = end();
    await clock.advanceUntil(() => false, minuteMs);
    await over;
  }
  await store.close();
  rmSync(folder, { recursive: true });
});

const replica = (id: string): Replica => ({
  ...{ id, name: `host-${id}:7`, version: '1', startedAt: now, silentMs: 0, scopes: ofReplica[id] ?? [] },
  ...{ configDigest: 'x', reloadFailure: null, storeFailure: null, wants: [] },
});

function memberOf(id: string): Membership {
  return {
    self: id,
    holds: (scope) => ofReplica[id]?.includes(scope) ?? false,
    mayPost: () => true,
    replicas: () => [...living].map(replica),
    missing: () => [],
    want: async () => {},
    overdue: null,
    report() {},
    offer() {},
    follow() {},
    stop: async () => {},
  };
}

function commandsOf(id: string, answer: (name: string) => Promise<CommandOutcome>): DaemonCommands {
  const named = (name: string) => async (): Promise<CommandOutcome> => {
    carriedOut.push(`${id} ${name}`);
    return answer(name);
  };
  return {
    ...{ pause: named('pause'), resume: named('resume'), mode: named('mode'), limit: named('limit') },
    ...{ refresh: named('refresh'), contestRelease: named('contest'), undo: named('undo'), writes: named('writes') },
    ...{ breakerRelease: named('breaker'), silenceAdd: named('silence'), silenceExpire: named('expire') },
    ...{ channelsResend: named('resend'), reload: named('reload') },
  };
}

const done = (id: string) => async (): Promise<CommandOutcome> => ({ result: 'done', messages: [`done by ${id}`] });

/** What a person who reached this replica has. */
function reach(id: string, answer = done(id)): DaemonCommands {
  const world = worldOn(clock, { level: 'silent', format: 'json' });
  const passing = { world, membership: memberOf(id), requests: store.requests, news: new News() };
  const fleet = new Fleet();
  for (const account of ['acme', 'beta', 'gone'])
    fleet.putMailbox(arrivedMailbox(`of-${account}`, { account, email: `bob@${account}.example` }));
  const local = commandsOf(id, answer);
  const loops = new Loops(world);
  const answering = new Answering({
    ...passing,
    scopes: () => Object.values(ofReplica).flat(),
    commands: local,
    loops,
  });
  answering.start();
  ends.push(() => answering.stop());
  const learn = async (name: string) => {
    for (const mailbox of await store.mailboxesCalled(name)) fleet.putMailbox(mailbox);
  };
  return commandsEverywhere({ local, fleet, membership: passing.membership, asking: new Asking(passing), learn });
}

/** The outcome, with the clock moved on until it is there. */
async function outcomeOf(asked: Promise<CommandOutcome>, withinMs = minuteMs): Promise<CommandOutcome> {
  let outcome: CommandOutcome | null = null;
  asked.then((said) => {
    outcome = said;
  });
  await clock.advanceUntil(() => outcome !== null, withinMs);
  if (!outcome) throw new Error('no outcome');
  return outcome;
}

test('a command for a mailbox is carried out where its account is guarded, and its outcome comes back', async () => {
  const a = reach('a');
  reach('b');
  expect(await outcomeOf(a.pause({ mailbox: 'bob@acme.example', ...who }))).toMatchObject({ messages: ['done by a'] });
  expect(await outcomeOf(a.pause({ mailbox: 'bob@beta.example', ...who }))).toMatchObject({ messages: ['done by b'] });
  expect(carriedOut).toEqual(['a pause', 'b pause']);
});

test('a mailbox that nobody knows is refused here', async () => {
  const a = reach('a', async () => ({ result: 'invalid', messages: ['no such mailbox'] }));
  expect(await outcomeOf(a.pause({ mailbox: 'nobody@acme.example', ...who }))).toMatchObject({ result: 'invalid' });
  expect(carriedOut).toEqual(['a pause']);
});

test('a mailbox that another replica found a moment ago is known by each of its names', async () => {
  const a = reach('a');
  reach('b');
  const present = [arrivedMailbox('new', { account: 'beta', email: 'New@beta.example' })];
  const nothingElse = { absent: [], left: [], leftAt: now, alerts: noAlerts, breaker: null };
  await store.recordList({ account: 'beta', present, ...nothingElse });
  for (const mailbox of ['new@beta.example', 'beta/NEW@beta.example', 'new', 'beta/new'])
    expect(await outcomeOf(a.pause({ mailbox, ...who }))).toMatchObject({ messages: ['done by b'] });
});

test('a replica that does not answer is named, nothing was done, and it is not done later', async () => {
  const a = reach('a');
  const outcome = await outcomeOf(a.pause({ mailbox: 'bob@beta.example', ...who }));
  expect(outcome).toEqual({
    result: 'failed',
    messages: ['Replica host-b:7 does not answer, so nothing was done. Try again in a minute.'],
    worthRetrying: true,
  });
  reach('b');
  await clock.advance(10 * secondMs);
  expect(carriedOut).toEqual([]);
});

test('an account that no replica guards is said to be so', async () => {
  const outcome = await outcomeOf(reach('a').pause({ mailbox: 'bob@gone.example', ...who }));
  expect(outcome.messages).toEqual([
    'No replica guards account gone at the moment, so nothing was done. Try again in a minute.',
  ]);
});

test('what a replica began and died with is not begun again, and the person is told to look', async () => {
  const a = reach('a');
  reach('b', () => new Promise(() => {}));
  const asked = a.pause({ mailbox: 'bob@beta.example', ...who });
  await clock.advanceUntil(() => carriedOut.length > 0, minuteMs);
  living.delete('b');
  const outcome = await outcomeOf(asked);
  expect(outcome.result).toBe('failed');
  expect(outcome.messages[0]).toMatch(
    /^Replica host-b:7 started this command and stopped before it answered, .* history` and /,
  );
  await clock.advance(minuteMs);
  expect(carriedOut).toEqual(['b pause']);
});

test('an undo is done by each replica for what it guards; what was agreed to is what each of them planned', async () => {
  const undo = (id: string) => async (): Promise<CommandOutcome> => ({
    ...{ result: 'planned', messages: [`${id} would`], plan: `plan-${id}` },
  });
  const a = reach('a', undo('a'));
  reach('b', undo('b'));
  const planned = await outcomeOf(a.undo({ sinceMs: 1, dryRun: true, ...who }));
  expect(planned).toEqual({ result: 'planned', messages: ['a would', 'b would'], plan: 'a=plan-a,b=plan-b' });
  living.delete('b');
  await outcomeOf(a.undo({ sinceMs: 1, plan: planned.plan ?? null, ...who }));
  expect(carriedOut).toEqual(['a undo', 'b undo', 'a undo']);
});

test('a reload is of this replica, and says who else there is', async () => {
  const outcome = await outcomeOf(reach('a').reload({ by: 'ann', force: false }));
  expect(outcome.messages).toEqual([
    'done by a',
    'Only this replica reloaded its configuration. Reload the others too: host-b:7.',
  ]);
});

test('the outcomes of several replicas are one outcome', () => {
  const part = (id: string, outcome: CommandOutcome) => ({ replica: replica(id), outcome });
  const nothing = (id: string) => part(id, { result: 'no_change', messages: ['Nothing to undo.'] });
  expect(together([nothing('a'), nothing('b')])).toEqual({ result: 'no_change', messages: ['Nothing to undo.'] });
  const undone = part('b', { result: 'done', messages: ['undone'] });
  expect(together([nothing('a'), undone])).toEqual({ result: 'done', messages: ['undone'] });
  const silent = part('a', { result: 'failed', messages: ['silent'] });
  expect(together([silent, undone])).toEqual({ result: 'failed', messages: ['silent', 'undone'] });
});
