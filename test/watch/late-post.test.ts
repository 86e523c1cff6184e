// A POST that comes after its process was given up: it is Warmwarden's own, and gives way to what was requested since.
import { expect, test } from 'vitest';
import { mayStillCome } from '../../src/model/guard-memory.ts';
import { dayMs, hourMs, minuteMs } from '../../src/model/time.ts';
import { inheritedWaitMs } from '../../src/replicas/inheritance.ts';
import { demoKey } from '../../src/simulator/keys.ts';
import { calmPoll, type Duty, goOnDuty } from './duty.ts';

/** The mailbox in recovery, by a second POST; the first one of a process that ended has not come. */
async function takenOver(openWaitMs: number = inheritedWaitMs): Promise<Duty> {
  const duty = await goOnDuty({ poll: calmPoll });
  duty.lease.openWaitMs = openWaitMs;
  let image: string | undefined;
  duty.between.meddle = ({ method }) => {
    if (method !== 'POST') return 'pass';
    image ??= duty.image();
    return 'cut';
  };
  await duty.until(() => image !== undefined);
  duty.between.meddle = () => 'pass';
  await duty.restart({ image: image ?? '' });
  await duty.until(() => duty.action()?.state === 'confirmed');
  expect([duty.action()?.attempts, duty.mailbox()?.memory?.unseenPosts?.length]).toEqual([
    2,
    openWaitMs > 0 ? 1 : undefined,
  ]);
  return duty;
}

/** The mailbox at its API, set by anybody. */
async function set(duty: Duty, warmup_mode: string): Promise<void> {
  const headers = { authorization: `Bearer ${demoKey}`, 'content-type': 'application/json' };
  const config = { warmup_mode };
  const body = JSON.stringify({ action: 'update_config', mailbox_id: duty.mailbox()?.id, config });
  expect((await fetch(`${duty.simulator.url}/v1/warmup`, { method: 'POST', headers, body })).status).toBe(200);
}

const root = { name: 'root', reason: 'a test' };

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
  const mailbox = duty.mailbox();
  if (!mailbox) throw new Error('no mailbox');
  const done = duty.watch().carryOut(mailbox, { kind: 'mode', targetMode: 'slow', by: root });
  const persons = () =>
    duty
      .fleet()
      .recentActions()
      .find(({ by }) => by !== null);
  await duty.until(() => persons()?.state === 'unconfirmed');
  await done;
  expect(duty.action()).toMatchObject({ by: null, state: 'refused' });
  await set(duty, 'slow');
  await duty.until(() => duty.mailbox()?.warmup?.answer.mode === 'slow', hourMs);
  expect([persons()?.state, duty.mailbox()?.changes]).toEqual(['confirmed', []]);
});

test('after a day it is somebody else’s', () => {
  expect([dayMs, dayMs + 1].map((ms) => mayStillCome({ at: 0 }, ms))).toEqual([true, false]);
});
