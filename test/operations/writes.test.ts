// The write stop on a real store: what it is about, that it is told and ends, and that each is ended by its own command.
import { beforeEach, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { AccountState } from '../../src/core/mailbox.ts';
import { type CommandOutcome, succeeded } from '../../src/core/operator-command.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { auditing } from '../../src/operations/audit.ts';
import { type OperationRequest, runCommand } from '../../src/operations/command-requests.ts';
import { judgingAgain } from '../../src/operations/commands.ts';
import { settleWrites, type WritesRooms, writesCommand } from '../../src/operations/writes.ts';
import { Store } from '../../src/store/store.ts';
import type { MovedClock } from '../../tools/simulator/moved-clock.ts';
import { arrivedMailbox, now, verdictOf } from '../store/records.ts';
import { silentWorld } from '../support/silent-world.ts';
import { openRooms, roomsOf } from './rooms.ts';

const who = { by: 'ann', reason: 'a look first' };
const bob = arrivedMailbox('m1', { account: 'acme', email: 'bob@acme.example' });

let opened: Awaited<ReturnType<typeof openRooms>>;
let store: Store;
let fleet: Fleet;
let clock: MovedClock;
let rooms: WritesRooms;

beforeEach(async () => {
  opened = await openRooms();
  ({ clock, store } = opened);
  begin(opened.fleet);
  for (const name of ['acme', 'everything']) fleet.putAccount({ name } as AccountState);
  fleet.putMailbox(bob);
});

function begin(known: Fleet): void {
  fleet = known;
  const judgeAgain = async () => {};
  rooms = {
    ...roomsOf(fleet, store, silentWorld(clock)),
    knows: (name) => fleet.account(name) !== undefined,
    judgeAgain,
  };
}

test('a stop that is in force is done, also when the store then takes no judgement', async () => {
  const failing = { judgeAgain: () => Promise.reject(new Error('database or disk is full')) };
  const judgeAgain = judgingAgain(() => failing, rooms.world.log);
  const answer = verdictOf({ action: 'pause', wanted: 'pause' });
  fleet.putMailbox({ ...bob, verdict: { at: now, answer } });
  rooms = { ...rooms, judgeAgain };
  expect((await off()).result).toBe('done');
  expect(fleet.writesOff(clock.now())).toHaveLength(1);
});

const off = (about: Partial<OperationRequest<'writes'>> = {}) => switched(true, about);
const on = (about: Partial<OperationRequest<'writes'>> = {}) => switched(false, about);

function switched(isOff: boolean, about: Partial<OperationRequest<'writes'>>) {
  const usual = { account: null, mailbox: null, for_seconds: null, dry_run: false, plan: null };
  return runCommand('writes', writesCommand(rooms), { off: isOff, ...usual, ...about, ...who }, auditing(rooms));
}

/** What people are told of, oldest first. */
async function notified() {
  const unsaid = await store.outbox.unnotifiedTransitions(100);
  return unsaid.map(({ transition: { kind, alert } }) => `${kind} ${alert.facts.title}`);
}

/** Runs the command that a message prints. */
async function runPrinted(message: string): Promise<CommandOutcome> {
  const [, command] = /`warmwarden writes on ?([^`]*)`/.exec(message) ?? [];
  const [option, name] = (command ?? '').split(' ');
  return on(option === '--account' ? { account: name ?? '' } : option === '--mailbox' ? { mailbox: name ?? '' } : {});
}

test('a stop of one mailbox names its address, and the command that it prints ends it and nothing else', async () => {
  await off({ account: 'acme' });
  const { messages } = await off({ mailbox: 'bob@acme.example' });
  expect(messages).toEqual([
    'Writes are off for mailbox bob@acme.example (account acme) until a person switches them on. To allow them: `warmwarden writes on --mailbox acme/bob@acme.example`.',
  ]);
  const ended = await runPrinted(messages[0] ?? '');
  expect(ended).toEqual({
    result: 'done',
    messages: [
      'Writes are on for mailbox bob@acme.example (account acme).',
      'Still off: account acme (`warmwarden writes on --account acme`).',
    ],
  });
  expect(fleet.writesOff(now).map(({ scope }) => scope)).toEqual([{ kind: 'account', account: 'acme' }]);
  await runPrinted(ended.messages[1] ?? '');
  expect(fleet.writesOff(now)).toEqual([]);
});

test('writes on where they are on is no change, and names what is off elsewhere', async () => {
  await off({ account: 'acme' });
  expect(await on()).toEqual({
    result: 'no_change',
    messages: [
      'Writes are already on for all accounts.',
      'Still off: account acme (`warmwarden writes on --account acme`).',
    ],
  });
  expect(await on({ account: 'nobody' })).toEqual({
    result: 'invalid',
    messages: ['No account is called nobody. The accounts are: acme, everything.'],
  });
  expect((await off({ mailbox: 'nobody@x.example' })).result).toBe('invalid');
});

test('a stop whose mailbox or account is gone can still be ended', async () => {
  await off({ mailbox: 'm1' });
  await off({ account: 'everything' });
  const left = new Fleet();
  left.putAccount({ name: 'acme' } as AccountState);
  for (const one of fleet.writesOff(now)) left.putWritesOff(one);
  begin(left);
  expect(succeeded(await on({ mailbox: 'acme/bob@acme.example' }))).toBe(true);
  expect(succeeded(await on({ account: 'everything' }))).toBe(true);
  expect(fleet.writesOff(now)).toEqual([]);
});

test('it is told while it is on and when it ends, with who and why', async () => {
  await off();
  await on();
  expect(await notified()).toEqual([
    'firing writes are OFF for all accounts',
    'event ann ran “writes off for all accounts”',
    'resolved writes are on again for all accounts',
    'event ann ran “writes on for all accounts”',
  ]);
  const [firing, , resolved] = await store.outbox.unnotifiedTransitions(10);
  expect(firing?.transition.alert).toMatchObject({ severity: 'warning', account: '', mailboxId: null });
  expect(firing?.transition.alert.facts.sentences[0]).toMatch(/^Switched off by ann on .*: a look first\.$/);
  expect(firing?.transition.alert.facts.sentences.at(-1)).toBe('To allow writes now: `warmwarden writes on`.');
  expect(resolved?.transition.alert.facts.sentences).toEqual(['Switched on by ann: a look first.']);
});

test('what has expired is over, also while nobody was there, and its alert ends', async () => {
  await off({ account: 'acme', for_seconds: 3_600 });
  await store.close();
  await clock.advance(2 * hourMs);
  store = await Store.open(opened.path, clock.now(), { clock });
  opened.store = store;
  const { writesOff, alerts } = await store.loadPicture();
  const again = new Fleet();
  again.putAccount({ name: 'acme' } as AccountState);
  for (const one of writesOff) again.putWritesOff(one);
  for (const alert of alerts) again.putAlert(alert);
  begin(again);
  await settleWrites(rooms);
  expect((await notified()).at(-1)).toBe('resolved writes are on again for account acme');
  expect([[...fleet.alerts()], (await store.loadPicture()).writesOff]).toEqual([[], []]);
});

test('switched off again it has another end, and is told once', async () => {
  await off({ for_seconds: 3_600 });
  const { messages } = await off({ dry_run: true });
  expect(messages.at(-1)).toBe('This replaces the stop that ann set: a look first.');
  await off();
  expect(fleet.writesOff(now)).toMatchObject([{ until: null }]);
  expect((await notified()).filter((one) => one.startsWith('firing'))).toHaveLength(1);
});

test('what was agreed to is not done when it has changed: the stop is gone, or another one', async () => {
  await off();
  const { plan } = await on({ dry_run: true });
  await clock.advance(minuteMs);
  await off();
  const outcome = await on({ plan: plan ?? '' });
  expect(outcome.result).toBe('changed');
  expect(fleet.writesOff(clock.now())).toHaveLength(1);
});
