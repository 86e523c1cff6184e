// A POST that comes after its process was given up: it is Warmwarden's own, and gives way to what was requested since.
import { expect, test } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import { mayStillCome } from '../../src/core/guard-memory.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { inheritedWaitMs } from '../../src/store/lease.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { amelia, calmPoll, type Duty, goOnDuty, oliver, stormOf } from './duty.ts';

/** The process ends within its next POST, which does not come, and another one takes over. `work` goes on meanwhile. */
async function endedInPost(duty: Duty, work: () => Promise<unknown>): Promise<void> {
  let image: string | undefined;
  duty.between.meddle = ({ method }) => {
    if (method !== 'POST') return 'pass';
    image ??= duty.image();
    return 'cut';
  };
  const done = work();
  await duty.until(() => image !== undefined);
  duty.between.meddle = () => 'pass';
  await duty.restart({ image: image ?? '' });
  await done;
}

/** The mailbox in recovery, by a second POST; the first one of a process that ended has not come. */
async function takenOver(openWaitMs: number = inheritedWaitMs): Promise<Duty> {
  const duty = await goOnDuty({ poll: calmPoll });
  duty.lease.openWaitMs = openWaitMs;
  await endedInPost(duty, async () => {});
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect([duty.action()?.attempts, duty.mailbox()?.memory?.unseenPosts?.length]).toEqual([
    2,
    openWaitMs > 0 ? 1 : undefined,
  ]);
  return duty;
}

/** The mailbox of the duty, which has only one. */
function only(duty: Duty): MailboxState {
  const [mailbox] = duty.fleet().mailboxes();
  if (!mailbox) throw new Error('no mailbox');
  return mailbox;
}

/** The mailbox at its API, set by anybody. */
async function set(duty: Duty, warmup_mode: string): Promise<void> {
  const headers = { authorization: `Bearer ${demoKey}`, 'content-type': 'application/json' };
  const config = { warmup_mode };
  const body = JSON.stringify({ action: 'update_config', mailbox_id: only(duty).id, config });
  expect((await fetch(`${duty.simulator.url}/v1/warmup`, { method: 'POST', headers, body })).status).toBe(200);
}

const root = { name: 'root', reason: 'a test' };

type Wanted = Pick<Action, 'kind' | 'targetMode'>;
const slow: Wanted = { kind: 'mode', targetMode: 'slow' };
const resume: Wanted = { kind: 'resume', targetMode: null };
const aggressive: Wanted = { kind: 'mode', targetMode: 'aggressive' };

test('what a person requested since is sent again, and people are told once', async () => {
  await using duty = await takenOver();
  const change = { kind: 'mode', targetMode: 'slow', by: root } as const;
  const mailbox = duty.mailbox();
  if (!mailbox) throw new Error('no mailbox');
  const done = duty.watch().carryOut(mailbox, change);
  await duty.until(() => duty.action()?.by !== null && duty.action()?.state === 'confirmed');
  await done;
  await set(duty, 'recovery');
  const posts = duty.posts().length;
  await duty.until(() => duty.posts().length > posts, hourMs);
  await duty.until(() => duty.action()?.state === 'confirmed');
  await duty.run(2 * hourMs);
  const { mode } = duty.mailbox()?.warmup?.answer ?? {};
  expect([mode, duty.posts().length - posts, duty.action()?.by]).toEqual(['slow', 1, root]);
  const told = await duty.notified();
  expect(told.filter((one) => one.endsWith('late') || one.includes('changed_by_others'))).toEqual([
    'event guard_acted late',
  ]);
  // The POST has come: the next one is somebody's.
  await set(duty, 'recovery');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'recovery', hourMs);
  await duty.run(hourMs);
  expect([duty.posts().length - posts, duty.mailbox()?.memory?.claim]).toEqual([1, null]);
});

test('without anything newer it is claimed, as if it had been read back in time', async () => {
  await using duty = await takenOver();
  await set(duty, 'slow');
  await duty.until(() => duty.mailbox()?.memory?.claim === null);
  const before = duty.action()?.id;
  await set(duty, 'recovery');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'recovery', hourMs);
  await duty.run(minuteMs);
  expect([duty.mailbox()?.memory?.claim?.actionId, duty.action()?.id]).toEqual([before, before]);
});

/** A person's change whose process froze within the POST: another one took over, and has not seen it. */
async function personTakenOver(duty: Duty, change: Wanted): Promise<void> {
  duty.lease.openWaitMs = inheritedWaitMs;
  await endedInPost(duty, () => carryOut(duty, change));
  await duty.until(() => personsAction(duty)?.state === 'unconfirmed');
  expect(only(duty).memory?.unseenPosts?.map(({ action }) => action.by)).toEqual([root]);
}

/** A person changes the mailbox through Warmwarden. */
function carryOut(duty: Duty, change: Wanted): Promise<unknown> {
  return duty.watch().carryOut(only(duty), { ...change, by: root });
}

/** The newest action that a person asked for. */
function personsAction(duty: Duty) {
  return duty
    .fleet()
    .recentActions()
    .find(({ by }) => by !== null);
}

const late = (told: readonly string[]) =>
  told.filter((one) => one.endsWith('late') || one.includes('changed_by_others'));

test('a person’s late change does not undo the newer one of theirs', async () => {
  await using duty = await goOnDuty({ poll: calmPoll, scenario: stormOf(oliver) });
  await duty.until(() => [...duty.fleet().mailboxes()].some(({ verdict }) => verdict !== null));
  await personTakenOver(duty, aggressive);
  const done = carryOut(duty, slow);
  await duty.until(() => personsAction(duty)?.state === 'confirmed');
  await done;
  const posts = duty.posts().length;
  await set(duty, 'aggressive');
  await duty.run(hourMs);
  expect([duty.posts().length - posts, only(duty).warmup?.answer.mode]).toEqual([1, 'slow']);
  expect(late(await duty.notified())).toEqual(['event guard_acted late']);
});

test('a person’s late change that undoes a switch of the guard is no reversal: the evidence stays, and people are told', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.kind === 'recovery');
  await personTakenOver(duty, aggressive);
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect(duty.action()).toMatchObject({ kind: 'recovery', by: null });
  const evidence = duty.mailbox()?.memory?.evidence;
  await set(duty, 'aggressive');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'aggressive', hourMs);
  await duty.run(hourMs);
  expect(duty.mailbox()?.memory).toMatchObject({ reversals: [], evidence });
  expect(late(await duty.notified())).toEqual(['event guard_acted late']);
});

test('a person’s late resume does not undo an emergency pause that came after it: the guard pauses again', async () => {
  const mailbox = { email: amelia, provider: 'google', mode: 'aggressive', startedDaysAgo: 60 } as const;
  const bounce = { kind: 'bounce', mailbox: amelia, rate: 1, from: 1.5 * hourMs, until: dayMs } as const;
  const scenario = { name: 'burns', summary: 'It burns at 10.', fleet: [mailbox], incidents: [bounce] };
  await using duty = await goOnDuty({ poll: { ...calmPoll, warmup: '*/10 * * * *' }, scenario });
  await duty.run(hourMs);
  duty.simulator.fleet.pause(amelia);
  await duty.until(() => duty.reason() === 'already_paused');
  await personTakenOver(duty, resume);
  const done = carryOut(duty, resume);
  await duty.until(() => personsAction(duty)?.state === 'confirmed');
  await done;
  await duty.until(() => duty.action()?.kind === 'pause' && duty.action()?.state === 'confirmed', 12 * hourMs);
  const posts = duty.posts().length;
  duty.simulator.fleet.resume(amelia);
  await duty.run(20 * minuteMs);
  const { warmup, memory } = duty.mailbox() ?? {};
  expect([duty.posts().length - posts, warmup?.answer.status, memory?.reversals]).toEqual([1, 'paused', []]);
  expect(late(await duty.notified()).at(-1)).toBe('event guard_acted late');
});

test('a process that was killed and started again sends nothing late: the same change is somebody’s, and stays', async () => {
  await using duty = await takenOver(0);
  const mailbox = duty.mailbox();
  if (!mailbox) throw new Error('no mailbox');
  const done = duty.watch().carryOut(mailbox, { kind: 'mode', targetMode: 'slow', by: root });
  await duty.until(() => duty.action()?.by !== null && duty.action()?.state === 'confirmed');
  await done;
  const posts = duty.posts().length;
  await set(duty, 'recovery');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'recovery', hourMs);
  await duty.run(2 * hourMs);
  expect([duty.posts().length - posts, duty.mailbox()?.memory?.claim]).toEqual([0, null]);
});

test('a person’s change that shows only once an action of Warmwarden has come back in its place is theirs, and nobody else’s', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  const posts = (status: number) => {
    duty.between.meddle = ({ method }) => (method === 'POST' ? { status, body: { error: 'not now' } } : 'pass');
  };
  posts(403);
  await duty.until(() => duty.action()?.state === 'refused');
  posts(500);
  const done = carryOut(duty, slow);
  await duty.until(() => personsAction(duty)?.state === 'unconfirmed');
  await done;
  expect(duty.action()).toMatchObject({ by: null, state: 'refused' });
  await set(duty, 'slow');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'slow', hourMs);
  expect([personsAction(duty)?.state, duty.mailbox()?.changes]).toEqual(['confirmed', []]);
});

const whatChanged = (duty: Duty) => duty.mailbox()?.changes.map(({ what, to }) => `${what}: ${to}`);

test('a change that failed is not taken for what others change once the guard has acted in its place', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.kind === 'recovery');
  duty.between.meddle = ({ method, body }) =>
    method === 'POST' && body.includes('aggressive') ? { status: 500, body: { error: 'not now' } } : 'pass';
  const done = carryOut(duty, aggressive);
  await duty.until(() => duty.action()?.by === null && duty.action()?.state === 'confirmed');
  await done;
  await set(duty, 'aggressive');
  duty.simulator.fleet.pause(amelia);
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'aggressive', hourMs);
  expect(personsAction(duty)?.state).toBe('unconfirmed');
  expect(whatChanged(duty)).toEqual(['mode: aggressive', 'warm-up: paused']);
  expect(late(await duty.notified())).toEqual(['event changed_by_others undefined']);
});

test('what others change beside a change of Warmwarden that shows late is theirs', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  duty.between.meddle = ({ method }) => (method === 'POST' ? 'swallow' : 'pass');
  await duty.until(() => duty.action()?.state === 'unconfirmed');
  await set(duty, 'recovery');
  duty.simulator.fleet.pause(amelia);
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'recovery', hourMs);
  expect([duty.action()?.state, whatChanged(duty)]).toEqual(['confirmed', ['warm-up: paused']]);
  expect(late(await duty.notified())).toEqual(['event changed_by_others undefined']);
});

test('the daily limit that a late mode brings with it is nobody else’s change', async () => {
  await using duty = await goOnDuty({ poll: calmPoll, scenario: stormOf(oliver) });
  await duty.until(() => [...duty.fleet().mailboxes()].some(({ verdict }) => verdict !== null));
  await personTakenOver(duty, aggressive);
  await duty.run(2 * hourMs);
  await set(duty, 'aggressive');
  await duty.until(() => personsAction(duty)?.state === 'confirmed', hourMs);
  expect([only(duty).warmup?.answer.config.targetDailyLimit, only(duty).changes]).toEqual([80, []]);
  expect(late(await duty.notified())).toEqual(['event guard_acted late']);
});

test('after a day it is somebody else’s', () => {
  expect([dayMs, dayMs + 1].map((ms) => mayStillCome({ at: 0 }, ms))).toEqual([true, false]);
});
