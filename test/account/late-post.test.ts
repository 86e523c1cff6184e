// A change that shows late: whose it is once a process has ended, or once another action has taken its place.
import { expect, test } from 'vitest';
import type { Action } from '../../src/core/action.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { hourMs } from '../../src/core/time.ts';
import { inheritedWaitMs } from '../../src/store/database.ts';
import { demoKey } from '../../tools/simulator/keys.ts';
import { amelia, calmPoll, type Duty, goOnDuty } from './duty.ts';

/** The mailbox in recovery, by a second POST; the first one, of a process that ended within it, has not come. */
async function takenOver(openWaitMs: number): Promise<Duty> {
  const duty = await goOnDuty({ poll: calmPoll });
  duty.lease.openWaitMs = openWaitMs;
  const image = await duty.untilKilled('cut');
  duty.between.meddle = () => 'pass';
  await duty.restart({ image });
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect(duty.action()?.attempts).toBe(2);
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
const aggressive: Wanted = { kind: 'mode', targetMode: 'aggressive' };

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

const byOthers = (told: readonly string[]) => told.filter((one) => one.includes('changed_by_others'));

test.each([
  ['killed and started again', 0],
  ['replaced by another one', inheritedWaitMs],
])('a change that comes after its process was %s counts as somebody’s, and stays', async (_, openWaitMs) => {
  await using duty = await takenOver(openWaitMs);
  const done = carryOut(duty, slow);
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
  const posts = (status: number) => duty.meddleWithPosts(() => ({ status, body: { error: 'not now' } }));
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
  expect(byOthers(await duty.notified())).toEqual(['event changed_by_others undefined']);
});

test('what others change beside a change of Warmwarden that shows late is theirs', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  duty.meddleWithPosts(() => 'swallow');
  await duty.until(() => duty.action()?.state === 'unconfirmed');
  await set(duty, 'recovery');
  duty.simulator.fleet.pause(amelia);
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'recovery', hourMs);
  expect([duty.action()?.state, whatChanged(duty)]).toEqual(['confirmed', ['warm-up: paused']]);
  expect(byOthers(await duty.notified())).toEqual(['event changed_by_others undefined']);
});
