// A pause by an operator was refused, and Warmwarden's own action that had failed before was dropped for it: its critical alert was
// resolved with "The mailbox was changed in the meantime", and nothing was tried again.
import { expect, test } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, type Duty, goOnDuty, rarePoll } from '../account/duty.ts';
import { operateOnDuty } from '../operations/rooms.ts';

const forbidden = { status: 403, body: { error: 'the API key lacks the write permission' } };
const refused = { status: 422, body: { error: 'no' } };
const by = { name: 'root', reason: 'to see it' };
const posts = ({ method }: { readonly method: string }) => method === 'POST';

/** A person's change, through to its outcome, while the clock goes on. */
async function change(duty: Duty, what: Pick<Action, 'kind' | 'targetMode'>): Promise<Action | string> {
  const mailbox = duty.mailbox();
  if (!mailbox) throw new Error('no mailbox');
  let ended: Action | string | null = null;
  void duty
    .watch()
    .carryOut(mailbox, { ...what, by })
    .then((outcome) => {
      ended = outcome;
    });
  await duty.until(() => ended !== null, 10 * minuteMs);
  return ended ?? 'no outcome';
}

const pause = { kind: 'pause', targetMode: null } as const;
const failing = (duty: Duty) => duty.alert('guard_action_failed')?.status;
/** What the messages say that end it, in this shift. */
const ends = async (duty: Duty) =>
  (await duty.store().outbox.unnotifiedTransitions(100)).flatMap(({ transition: { kind, alert } }) =>
    kind === 'resolved' && alert.rule === 'guard_action_failed' ? [alert.facts] : [],
  );
const resolved = async (duty: Duty) => (await duty.notified()).filter((one) => one.startsWith('resolved guard_action'));

async function failed(answer: typeof forbidden) {
  const duty = await goOnDuty({ poll: rarePoll, afterMs: 3 * hourMs });
  duty.between.meddle = (request) => (posts(request) ? answer : 'pass');
  await duty.until(() => duty.action()?.state === 'refused');
  await duty.run(5 * minuteMs);
  return duty;
}

test.each([
  ['a key that may not write', forbidden],
  ['an API that says no', refused],
])('a command that is refused ends nothing: %s', async (_, answer) => {
  await using duty = await failed(answer);
  const own = duty.action();
  expect(await change(duty, pause)).toMatchObject({ state: 'refused', by });
  const kept = { kind: 'recovery', by: null, state: 'refused', attempts: 1, nextTryAt: own?.nextTryAt };
  expect([duty.action(), failing(duty)]).toEqual([expect.objectContaining(kept), 'firing']);
  await duty.restart();
  await duty.run(20 * minuteMs);
  expect([duty.action(), failing(duty)]).toEqual([expect.objectContaining(kept), 'firing']);
  expect(await resolved(duty)).toEqual([]);
  // The second try is the second of the same intervention.
  duty.between.meddle = () => 'pass';
  await duty.until(() => duty.action()?.state === 'confirmed', hourMs);
  expect(duty.action()).toMatchObject({ kind: 'recovery', by: null, attempts: 2 });
  expect(await ends(duty)).toMatchObject([{ title: `${amelia}: switched to recovery mode after all` }]);
});

test('the dry run of a command says that the key may not write, while that is known', async () => {
  await using duty = await goOnDuty({ poll: rarePoll, afterMs: 3 * hourMs });
  await duty.until(() => duty.action()?.state === 'confirmed');
  const operate = operateOnDuty(duty);
  const request = { by: 'root', reason: 'to see it', dry_run: true };
  const plans = async () => [
    await operate('pause', { ...request, mailbox: amelia }),
    await operate('undo', { ...request, since_seconds: 12 * 3_600 }),
  ];
  const mayNot = 'The API will probably refuse this: it refused the last changes with the key of account agency.';
  const writable = await plans();
  for (const { result, messages } of writable) expect([result, messages.includes(mayNot)]).toEqual(['planned', false]);
  duty.between.meddle = (request) => (posts(request) ? forbidden : 'pass');
  await change(duty, pause);
  const readOnly = await plans();
  for (const { result, messages } of readOnly) expect([result, messages.at(-1)]).toEqual(['planned', mayNot]);
  // What is agreed to is the same.
  expect(readOnly.map(({ plan }) => plan)).toEqual(writable.map(({ plan }) => plan));
});

test('a command that could not be confirmed ends nothing, nor does one that could not be sent or needed no change', async () => {
  await using duty = await failed(refused);
  const nextTryAt = duty.action()?.nextTryAt;
  const kept = () => expect([duty.action(), failing(duty)]).toEqual([expect.objectContaining({ nextTryAt }), 'firing']);
  duty.between.meddle = (request) => (posts(request) ? { status: 200, body: {} } : 'pass');
  expect(await change(duty, pause)).toMatchObject({ state: 'unconfirmed', by });
  kept();
  duty.between.meddle = (request) => (posts(request) ? { status: 429, body: {} } : 'pass');
  expect(await change(duty, pause)).toMatchObject({ by });
  kept();
  duty.between.meddle = ({ path }) => (path.startsWith('/v1/warmup') ? { status: 500, body: 'no' } : 'pass');
  expect(await change(duty, pause)).toMatchObject({ state: 'dropped', by });
  kept();
  duty.between.meddle = () => 'pass';
  expect(await change(duty, { kind: 'mode', targetMode: 'balanced' })).toMatchObject({ state: 'dropped', by });
  kept();
  expect(await resolved(duty)).toEqual([]);
});

test('a kill while the command is sent leaves the own action as it was', async () => {
  await using duty = await failed(forbidden);
  const nextTryAt = duty.action()?.nextTryAt;
  let image = '';
  duty.between.meddle = (request) => {
    if (!posts(request)) return 'pass';
    image ||= duty.image();
    return forbidden;
  };
  await change(duty, pause);
  await duty.restart({ image });
  await duty.run(5 * minuteMs);
  expect([duty.action(), failing(duty)]).toEqual([
    expect.objectContaining({ kind: 'recovery', by: null, nextTryAt }),
    'firing',
  ]);
  expect(await resolved(duty)).toEqual([]);
});

test('a command that is carried out ends the alert, and says what was changed', async () => {
  await using duty = await failed(refused);
  duty.between.meddle = () => 'pass';
  expect(await change(duty, pause)).toMatchObject({ state: 'confirmed', by });
  const sentences = [expect.stringMatching(/^Paused by root at .* confirmed/)];
  expect(await ends(duty)).toMatchObject([{ title: `${amelia}: no action is needed now`, sentences }]);
  await duty.run(2 * hourMs);
  expect(duty.posts()).toHaveLength(2);
});

test('an action that a restart drops is still a failed one, until the mailbox was read', async () => {
  await using duty = await goOnDuty({ poll: rarePoll, afterMs: 3 * hourMs });
  await duty.until(() => duty.mailbox()?.warmup !== null && duty.reason() !== undefined);
  duty.between.meddle = ({ path }) => (path.startsWith('/v1/warmup') ? { status: 500, body: 'no' } : 'pass');
  await duty.until(() => failing(duty) === 'firing');
  await duty.restart();
  await duty.run(20 * minuteMs);
  expect([failing(duty), await resolved(duty)]).toEqual(['firing', []]);
  duty.simulator.fleet.pause(amelia);
  duty.between.meddle = () => 'pass';
  await duty.until(() => failing(duty) === undefined, hourMs);
  const sentences = ['The warm-up is already paused, so there is nothing to decide.'];
  expect(await ends(duty)).toMatchObject([{ sentences }]);
  expect(duty.posts()).toEqual([]);
});
