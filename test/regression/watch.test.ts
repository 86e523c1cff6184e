// What a review of the watch loop broke, each named for what happened.
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { isSameSpan } from '../../src/core/decision.ts';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { movedClock } from '../../src/world/world.ts';
import { amelia, calmPoll, goOnDuty, jonas, oliver, rarePoll, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';

const [marco, claire] = ['marco.rossi@cedarlane.example', 'claire.dubois@harborlight.example'];
const five = stormOf(amelia, oliver, jonas, marco, claire);
const isPost = ({ method }: { readonly method: string }) => method === 'POST';

describe('the configuration has the last word', () => {
  test.each([
    ['unconfirmed', 'swallow' as const],
    ['refused', { status: 403, body: { error: 'no' } }],
  ])('enforce switched off at a restart ends the tries of an action that was %s', async (state, fate) => {
    await using duty = await goOnDuty({ poll: calmPoll });
    duty.between.meddle = (request) => (isPost(request) ? fate : 'pass');
    await duty.until(() => duty.action()?.state === state);
    await duty.restart({ policy: { enforce: false } });
    const before = duty.posts().length;
    await duty.run(2 * hourMs);
    expect(duty.posts().length).toBe(before);
    expect(duty.action()?.state).toBe('dropped');
  });

  test('mailboxes excluded at a restart are neither polled nor acted upon any more', async () => {
    await using duty = await goOnDuty({ scenario: five });
    await duty.run(10 * minuteMs);
    await duty.restart({ selects: ({ email }) => email === oliver });
    const from = duty.between.requests.length;
    await duty.run(hourMs);
    const asked = duty.between.requests.slice(from).flatMap(({ path }) => /mailbox_id=([^&]+)/.exec(path)?.[1] ?? []);
    expect([new Set(asked).size, duty.fleet().mailboxCount(), duty.posts().length]).toEqual([1, 1, 0]);
  });
});

describe('a mailbox that the list lacks for a while', () => {
  test('comes back with its memory: a person who took it out of recovery is not overruled', async () => {
    const poll = { ...rarePoll, mailboxes: '* * * * *' };
    await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver, jonas), poll });
    await duty.until(() => duty.action()?.state === 'confirmed');
    duty.simulator.fleet.setMode(amelia, 'balanced');
    await duty.run(2 * hourMs);
    const id = duty.mailbox()?.id;
    const others = [...duty.fleet().mailboxes()].filter((mailbox) => mailbox.id !== id);
    const mailboxes = others.map((mailbox) => ({ id: mailbox.id, email: mailbox.email, status: 'active' }));
    duty.between.meddle = ({ path }) => (path === '/v1/mailboxes' ? { status: 200, body: { mailboxes } } : 'pass');
    await duty.run(10 * minuteMs);
    expect(duty.mailbox()).toBeUndefined();
    duty.between.meddle = () => 'pass';
    await duty.run(hourMs);
    expect(duty.mailbox()?.memory?.interventions).toHaveLength(1);
    expect(duty.posts().filter((body) => body.mailbox_id === id)).toHaveLength(1);
  });

  test('is not given up with all the others when the list is empty', async () => {
    await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
    await duty.run(10 * minuteMs);
    duty.between.meddle = ({ path }) => (path === '/v1/mailboxes' ? { status: 200, body: { mailboxes: [] } } : 'pass');
    await duty.run(30 * minuteMs);
    expect(duty.fleet().mailboxCount()).toBe(2);
  });
});

test('a breach at first sight is read again after a minute, also when the warm-up answer came last', async () => {
  await using duty = await goOnDuty({ afterMs: 3 * hourMs });
  let failed = false;
  duty.between.meddle = ({ path }) => {
    if (failed || !path.startsWith('/v1/warmup')) return 'pass';
    failed = true;
    return { status: 500, body: {} };
  };
  const from = duty.clock.now();
  await duty.until(() => duty.posts().length > 0, 2 * hourMs);
  expect(duty.clock.now() - from).toBeLessThan(3 * minuteMs);
});

test('a person is answered while the API says to wait for an hour, and nothing is sent behind their back', async () => {
  await using duty = await goOnDuty({ scenario: stormOf(oliver) });
  await duty.run(10 * minuteMs);
  const later = { status: 429, body: { error: 'slow down' }, headers: { 'retry-after': '3600' } };
  duty.between.meddle = () => later;
  await duty.run(2 * minuteMs);
  const found = duty.mailbox(oliver);
  if (!found) throw new Error('no mailbox');
  const by = { name: 'a test', reason: 'to see it' };
  let answer: unknown = null;
  void duty
    .watch()
    .carryOut(found, { kind: 'pause', targetMode: null, by })
    .then((said) => {
      answer = said;
    });
  await duty.run(5 * minuteMs);
  expect(answer).toMatchObject({ state: 'dropped', attempts: 0 });
  duty.between.meddle = () => 'pass';
  await duty.run(2 * hourMs);
  expect(duty.posts()).toEqual([]);
});

test('the alert of a failed action ends when a person asks for what is so already', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  const refused = { status: 403, body: { error: 'no' } };
  duty.between.meddle = (request) => (isPost(request) ? refused : 'pass');
  await duty.until(() => duty.alert('guard_action_failed')?.status === 'firing');
  duty.between.meddle = () => 'pass';
  duty.simulator.fleet.pause(amelia);
  const found = duty.mailbox();
  if (!found) throw new Error('no mailbox');
  const by = { name: 'a test', reason: 'to see it' };
  const asked = duty.watch().carryOut(found, { kind: 'pause', targetMode: null, by });
  await duty.run(2 * hourMs);
  expect(await asked).toMatchObject({ state: 'dropped', detail: 'no change needed' });
  expect(duty.alert('guard_action_failed')).toBeUndefined();
});

test('a wall clock that is set back by hours does not blind the guard', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.run(10 * minuteMs);
  duty.behind.ms = 3 * hourMs;
  await duty.run(2.5 * hourMs);
  expect(duty.posts()).toHaveLength(1);
});

test('the stored picture is the shown one right after a confirmed action', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.state === 'confirmed');
  const stored = (await duty.store().loadPicture()).mailboxes[0];
  const shown = duty.mailbox();
  // A look at the warm-up led to the same decision; that the store hears of within 5 minutes (account/commit/unwritten.ts).
  expect({ ...stored, verdict: null }).toEqual({ ...shown, verdict: null });
  expect(stored?.verdict && shown?.verdict && isSameSpan(stored.verdict.answer, shown.verdict.answer)).toBe(true);
});

test('a sleep that is shorter than a moved clock can tell still ends', async () => {
  const clock = movedClock(Date.UTC(2026, 2, 10, 8, 30));
  const due = 400 / 3;
  let turns = 0;
  const loop = async () => {
    for (; clock.monotonic() < due && turns < 1_000; turns += 1) await clock.sleep(due - clock.monotonic());
  };
  void loop();
  await clock.advance(1_000);
  expect(turns).toBeLessThan(5);
});

describe('a store that fails for a moment', () => {
  test('is no reason to know nothing of a mailbox for half an hour: an answer that could not be recorded is asked for again', async () => {
    await using duty = await goOnDuty({ scenario: stormOf(amelia, oliver) });
    const db = new DatabaseSync(join(duty.folder(), 'warmwarden.db'));
    const answers = "WHEN NEW.route IN ('stats', 'warmup')";
    db.exec(`CREATE TRIGGER full BEFORE INSERT ON observations ${answers} BEGIN SELECT RAISE(ABORT, 'disk full'); END`);
    await duty.until(() => duty.asked('/v1/warmup') >= 1 && duty.asked('/v1/stats') >= 1, 5 * minuteMs);
    await duty.run(5 * secondMs);
    // The first judgement has to be stored before it counts.
    expect([duty.mailbox(amelia)?.verdict, duty.mailbox(oliver)?.verdict]).toEqual([null, null]);
    db.exec('DROP TRIGGER full');
    db.close();
    await duty.run(2 * minuteMs);
    const { mailboxes } = await duty.store().loadPicture();
    const stored = mailboxes.filter(({ email }) => [amelia, oliver].includes(email));
    expect(stored.map(({ warmup, stats, verdict }) => [warmup, stats, verdict].includes(null))).toEqual([false, false]);
  });
});

describe('one mailbox whose requests are refused with 401 while the list is accepted', () => {
  const begin = async () => {
    const poll = { stats: '*/5 * * * *', mailboxes: '* * * * *' };
    const expectErrors = ['the API refuses the key'];
    const stage = await startMovedDaemon({ scenario: stormOf(amelia, jonas), poll, expectErrors });
    await stage.run(10 * minuteMs);
    stage.simulator.faults.add({ fault: 'unauthorized', mailbox: jonas });
    await stage.run(hourMs);
    return stage;
  };

  test('is logged as a refused key once, not about once a minute, and the others are polled on time', async () => {
    await using stage = await begin();
    expect(stage.errorsSaying('the API refuses the key')).toHaveLength(1);
    expect(stage.clock.now() - (stage.mailbox(amelia).stats?.at ?? 0)).toBeLessThan(6 * minuteMs);
    expect(stage.notified('not_guarded', 'key rejected')).toEqual([]);
  });

  test('hides no key that is refused later: the account stops, and it is told', async () => {
    await using stage = await begin();
    stage.simulator.faults.clear();
    stage.simulator.faults.add({ fault: 'unauthorized' });
    await stage.run(5 * minuteMs);
    const asked = stage.simulator.requests.length;
    const from = stage.clock.now();
    await stage.run(20 * minuteMs);
    const since = stage.simulator.requests.slice(asked).filter(({ at }) => at > from);
    expect(since.filter(({ path }) => !/health|mailboxes$/.test(path))).toEqual([]);
    expect([
      stage.errorsSaying('the API refuses the key').length,
      stage.notified('not_guarded', 'key rejected'),
    ]).toEqual([2, ['firing']]);
  });

  test('counts again when it was answered: the next 401 stops the account', async () => {
    await using stage = await begin();
    stage.simulator.faults.clear();
    await stage.run(hourMs);
    stage.simulator.faults.add({ fault: 'unauthorized', mailbox: jonas });
    await stage.run(hourMs);
    expect(stage.errorsSaying('the API refuses the key')).toHaveLength(2);
  });
});
