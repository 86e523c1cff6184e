// What a person agreed to is not done when it would be something else by now: a command whose plan says too little would do it.
// `breaker apply` never acts where a write stop forbids it.
import { beforeEach, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { closedBreaker } from '../../src/core/guard/breaker.ts';
import type { AccountState, MailboxState } from '../../src/core/mailbox.ts';
import type { Operate } from '../../src/core/operator-command.ts';
import { hourMs } from '../../src/core/time.ts';
import type { VerdictAction } from '../../src/core/verdict.ts';
import type { WriteScope } from '../../src/core/write-scope.ts';
import { appliedTexts, applyPlan } from '../../src/operations/holds.ts';
import { answers, arrivedMailbox, memory, now } from '../store/records.ts';
import { mailbox, now as start, verdict } from '../web/example-fleet.ts';
import { stillWorld } from '../web/running-server.ts';
import { openRooms, operateOn } from './rooms.ts';

const who = { by: 'ann', reason: 'a look first' };
const bob = arrivedMailbox('m1', {
  warmup: answers.warmup,
  memory: { ...memory, reversals: [now - 2 * hourMs, now - hourMs] },
});

let fleet: Fleet;
let operate: Operate;

beforeEach(async () => {
  const opened = await openRooms();
  fleet = opened.fleet;
  fleet.putAccount({ name: bob.account } as AccountState);
  fleet.putMailbox(bob);
  operate = operateOn(opened.rooms);
});

const becomes = (changes: Partial<MailboxState>) => {
  fleet.putMailbox({ ...bob, ...changes });
  return {};
};
const { answer } = answers.warmup;
const otherLimit = { ...answer, config: { ...answer.config, targetDailyLimit: 20 } };
const setLimit = () => becomes({ warmup: { at: now, answer: otherLimit } });
const reverse = () => becomes({ memory: { ...memory, reversals: [now - 2 * hourMs, now - hourMs, now] } });
const ofBob = { mailbox: bob.email };
const silence = { match: { rule: ['dns_*'] }, for_seconds: 3_600 };

/** What was agreed to is asked for after `change`, with what that answers. */
test.each<[string, string, object, () => object, string]>([
  ['a limit, where another one is set by now', 'limit', { ...ofBob, limit: 30 }, setLimit, 'from 20 to 30 emails'],
  ['the end of a contest, where others reversed another change by now', 'contest-end', ofBob, reverse, ''],
  ['a silence, where it is another one', 'silence-add', silence, () => ({ match: { rule: ['*'] } }), ''],
])('%s', async (_, name, request, change, words) => {
  const command = (more: object) => operate(name, { ...who, ...request, ...more });
  const { plan, result } = await command({ dry_run: true });
  expect([result, (await command({ dry_run: true })).plan]).toEqual(['planned', plan]);
  const outcome = await command({ plan, ...change() });
  expect([outcome.result, fleet.silences(now)]).toEqual(['changed', []]);
  expect(outcome.messages.join()).toContain(words);
});

const api = 'https://api.example';
const keys = ['acme/m1', 'acme/m2', 'beta/m3'];

function stage(stops: readonly WriteScope[], held = keys, wanted: Readonly<Record<string, VerdictAction>> = {}) {
  const known = new Fleet();
  for (const key of held) {
    const answer = verdict({ action: 'hold', reason: 'circuit_breaker', wanted: wanted[key] ?? 'recovery' });
    const [account = '', id = ''] = key.split('/');
    known.putMailbox({ ...mailbox(id, `${id}@x.example`), account, verdict: { at: start, answer } });
  }
  const entries = held.map((key, index) => ({
    ...{
      key,
      account: key.slice(0, 4),
      email: `${key.slice(5)}@x.example`,
      domain: 'x.example',
      at: start,
      held: true,
    },
    ...{ firstSight: false, statsAt: start, weight: 9 - index },
  }));
  known.putBreaker(api, { ...closedBreaker, openSince: start, entries });
  for (const scope of stops) known.putWritesOff({ scope, since: start, until: null, by: 'bob', reason: 'a look' });
  const plan = applyPlan({ fleet: known, world: stillWorld() }, { api, keys: held });
  return {
    plan,
    effect: plan.effect.join(' '),
    applied: appliedTexts({ fleet: known, world: stillWorld() }, held).join(' '),
  };
}

test('of several APIs that hold actions the command names one, and acts on the mailboxes of that one alone', async () => {
  const { rooms, fleet: known } = await openRooms();
  const apis = ['https://one.example/v1', 'https://two.example', 'https://two.example/b'];
  apis.forEach((held, number) => {
    const key = `acme/h${number}`;
    const about = { key, account: 'acme', email: `h${number}@x.example`, domain: 'x.example', at: start, held: true };
    const entry = { ...about, firstSight: false, statsAt: start, weight: 1 };
    known.putBreaker(held, { ...closedBreaker, openSince: start, entries: [entry] });
  });
  const operate = operateOn(rooms);
  const isOpen = () => apis.map((held) => known.breaker(held).openSince !== null);
  for (const asked of [{}, { api: 'two.example' }, { api: 'three.example' }]) {
    const { result, messages } = await operate('breaker-discard', { ...who, ...asked });
    expect(result).toBe('invalid');
    expect(
      [...messages.join().matchAll(/breaker discard (\S+)` \((\d)/g)].map(([, name, count]) => [name, count]),
    ).toEqual(['one.example', 'https://two.example', 'https://two.example/b'].map((name) => [name, '1']));
  }
  expect(isOpen()).toEqual([true, true, true]);
  const planned = await operate('breaker-discard', { ...who, api: 'one.example', dry_run: true });
  expect([planned.counts, planned.messages.join().match(/h\d@/g)]).toEqual([{ mailboxes: 1 }, ['h0@']]);
  const discard = async (name: string) => (await operate('breaker-discard', { ...who, api: name })).result;
  expect([await discard('one.example'), isOpen()]).toEqual(['done', [false, true, true]]);
  expect([await discard('https://two.example/b'), isOpen()]).toEqual(['done', [false, true, false]]);
  // The only one that is left needs no name.
  expect([(await operate('breaker-discard', who)).result, isOpen()]).toEqual(['done', [false, false, false]]);
});

test('the preview says which mailboxes are paused and which are switched, and another action is another plan', () => {
  const { effect, plan } = stage([], keys, { 'beta/m3': 'pause', 'acme/m2': 'hold' });
  expect(effect).toMatch(/act on 3 mailboxes .* pause .*: m3@\S+ .* switch .*: m1@\S+ .* first judge .*: m2@\S+$/);
  expect(plan.about).not.toEqual(stage([]).plan.about);
  const many = Array.from({ length: 12 }, (_, number) => `acme/m${number}`);
  expect(stage([], many).effect).toMatch(/m9@x\.example and 2 more\.$/);
});

test('during a write stop, neither the preview nor the answer says that it acts', () => {
  const { effect, applied } = stage([{ kind: 'everything' }]);
  for (const said of [effect, applied]) {
    expect(said).toContain('Warmwarden does NOT act on 3 mailboxes while writes are off.');
    expect(said).toContain('Writes are off for all accounts (bob: a look). To allow them: `warmwarden writes on`.');
    expect(said).not.toMatch(/immediately|now acts/);
  }
});
