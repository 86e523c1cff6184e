// One account from the bounce to the confirmed change, over HTTP, with a store on disk. The promises of the README.
import { expect, test } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, calmPoll, type Duty, goOnDuty, jonas, rarePoll, stormOf } from '../account/duty.ts';

const switched = { action: 'update_config', config: { warmup_mode: 'recovery' } };

const isPost = ({ method }: { readonly method: string }) => method === 'POST';

const settled = (duty: Duty) => duty.until(() => duty.action()?.state === 'confirmed');

test('a breach is answered with one switch to recovery mode, read back, within a stats poll', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await settled(duty);
  expect(duty.posts()).toMatchObject([{ mailbox_id: duty.mailbox()?.id, ...switched }]);
  const posted = duty.between.requests.findIndex(isPost);
  const [stats, look] = duty.between.requests.slice(posted - 2, posted);
  expect([stats?.path.slice(0, 9), look?.path.slice(0, 10)]).toEqual(['/v1/stats', '/v1/warmup']);
  expect((duty.between.requests[posted]?.at ?? 0) - (stats?.at ?? 0)).toBeLessThan(3_000);
  expect(duty.action()).toMatchObject({ kind: 'recovery', attempts: 1, detail: expect.stringMatching(/^read back/) });
  expect(duty.mailbox()?.memory).toMatchObject({
    mode: 'recovery',
    interventions: [duty.action()?.settledAt],
    claim: { kind: 'recovery', previousMode: 'balanced' },
  });
  expect(duty.simulator.fleet.find(amelia)?.config.mode).toBe('recovery');
  expect(await duty.notified()).toEqual(['event guard_acted confirmed']);
});

test('a breach found at first sight waits for the second fresh answer, a minute later', async () => {
  await using duty = await goOnDuty({ afterMs: 3 * hourMs });
  await duty.until(() => duty.reason() === 'first_sight', 5 * minuteMs);
  expect(duty.posts()).toEqual([]);
  const first = duty.clock.now();
  await duty.until(() => duty.posts().length > 0, 5 * minuteMs);
  expect([duty.asked('/v1/stats'), duty.clock.now() - first < 2 * minuteMs]).toEqual([2, true]);
});

test('an emergency found at first sight acts at once', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(jonas), afterMs: 5 * hourMs });
  await duty.until(() => duty.posts().length > 0, minuteMs);
  expect([duty.asked('/v1/stats'), duty.posts()[0].action]).toEqual([1, 'pause']);
});

test('with enforce: false nothing is written, and the breach is told as NO ACTION TAKEN', async () => {
  await using duty = await goOnDuty({ policy: { enforce: false }, poll: calmPoll });
  await duty.until(() => duty.alert('bounce_over_limit')?.status === 'firing');
  await duty.run(4 * hourMs);
  expect([duty.posts(), duty.action()]).toEqual([[], null]);
  expect(await duty.notified()).toEqual(['firing bounce_over_limit']);
});

test('a person who pauses between verdict and POST is not overruled', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.reason() === 'bounce_rate_over_limit');
  expect(duty.action()?.state).toBe('planned');
  duty.simulator.fleet.pause(amelia);
  await duty.run(4 * hourMs);
  expect([duty.posts(), duty.action()?.state, duty.reason()]).toEqual([[], 'dropped', 'already_paused']);
  // Their change is announced; nothing of ours is.
  expect(await duty.notified()).toEqual(['event changed_by_others undefined']);
});

test('a person who switches to recovery between verdict and POST is not doubled, nor is the switch claimed', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.reason() === 'bounce_rate_over_limit');
  duty.simulator.fleet.setMode(amelia, 'recovery');
  await duty.run(4 * hourMs);
  expect([duty.posts(), duty.action()?.state, duty.mailbox()?.memory?.claim]).toEqual([[], 'dropped', null]);
});

test('a person who takes a switch back ends our claim, and old bounces do not switch again', async () => {
  await using duty = await goOnDuty({ poll: rarePoll });
  await settled(duty);
  duty.simulator.fleet.setMode(amelia, 'balanced');
  await duty.run(2 * dayMs);
  expect([duty.posts().length, duty.mailbox()?.memory?.claim]).toEqual([1, null]);
  expect(duty.simulator.fleet.find(amelia)?.config.mode).toBe('balanced');
});

test('what others change while an action is under way is announced, also where the action is what read it', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  let paused = false;
  duty.between.meddle = ({ method, path }) => {
    if (method === 'GET' && path.startsWith('/v1/warmup') && duty.posts().length > 0 && !paused)
      paused = duty.simulator.fleet.find(amelia)?.pause() === true;
    return 'pass';
  };
  await settled(duty);
  expect([paused, duty.action()?.detail]).toEqual([true, expect.stringMatching(/^read back: mode recovery/)]);
  await duty.run(hourMs);
  expect(duty.mailbox()?.changes).toMatchObject([{ what: 'warm-up', from: 'active', to: 'paused' }]);
  expect(await duty.notified()).toEqual([
    'event guard_acted confirmed',
    expect.stringMatching(/^event changed_by_others/),
  ]);
});
