// Kill -9 between any two steps: the next process finds the disk as it was, looks first, and acts once.
import { describe, expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, calmPoll, type Duty, goOnDuty, oliver, stormOf } from './duty.ts';

const isPost = ({ method }: { readonly method: string }) => method === 'POST';

/** The guard's own action, and a person's: how it comes about, and what it leaves. */
const writes = [
  {
    what: "the guard's switch",
    scenario: stormOf(amelia),
    begin: async () => {},
    memory: { mode: 'recovery', claim: { kind: 'recovery' } },
    interventions: 1,
  },
  {
    what: "a person's limit",
    scenario: { ...stormOf(amelia), incidents: [] },
    begin: async (duty: Duty) => {
      await duty.until(() => Boolean(duty.mailbox()?.verdict));
      const mailbox = duty.mailbox();
      if (!mailbox) throw new Error('nothing is guarded');
      const by = { name: 'ann', reason: 'gentler' };
      // Whoever is killed never learns how it ended.
      void duty.watch().carryOut(mailbox, { kind: 'limit', targetMode: null, targetLimit: 7, by });
    },
    memory: { mode: 'balanced', claim: null },
    interventions: 0,
  },
] as const;

describe.each(writes)('killed after a POST of $what', ({ scenario, begin, memory, interventions }) => {
  const started = async (): Promise<Duty> => {
    const duty = await goOnDuty({ poll: calmPoll, scenario });
    await begin(duty);
    return duty;
  };

  test('that was applied: the next process looks, confirms, and sends nothing', async () => {
    await using duty = await started();
    const image = await duty.untilKilled('applied-cut');
    const sent = duty.posts().length;
    duty.between.meddle = () => 'pass';
    await duty.restart({ image });
    await duty.until(() => duty.action()?.state === 'confirmed', 5 * minuteMs);
    await duty.run(hourMs);
    expect([sent, duty.posts().length, duty.action()?.attempts]).toEqual([1, 1, 1]);
    expect(duty.mailbox()).toMatchObject({ memory, changes: [] });
    expect(duty.mailbox()?.memory?.interventions).toHaveLength(interventions);
  });

  test('that was lost: the next process looks, and sends it no second time without having looked', async () => {
    await using duty = await started();
    const image = await duty.untilKilled('cut');
    // The dying process may try again while it stops; the image does not know of that.
    const sent = duty.posts().length;
    await duty.restart({ image });
    duty.between.meddle = () => 'pass';
    const restarted = duty.between.requests.length;
    const settled = () => ['confirmed', 'unconfirmed'].includes(duty.action()?.state ?? '');
    // The whole read-back deadline of 15 s, and then without a further wait.
    await duty.until(() => settled() && (interventions === 0 || duty.action()?.state === 'confirmed'), minuteMs);
    await duty.run(hourMs);
    const since = duty.between.requests.slice(restarted);
    const post = since.findIndex(isPost);
    const looks = since.slice(0, post === -1 ? since.length : post).filter(({ path }) => path.startsWith('/v1/warmup'));
    // Nothing is sent again behind a person's back: they may ask once more.
    expect([sent, duty.posts().length]).toEqual([1, 1 + interventions]);
    expect(looks.length).toBeGreaterThanOrEqual(5);
    expect(duty.mailbox()?.memory?.interventions).toHaveLength(interventions);
  });
});

test('killed while an action was planned: it is judged again, and acted upon once', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.state === 'planned');
  const image = duty.image();
  const [planned, killedAt] = [duty.action()?.id, duty.clock.now()];
  duty.meddleWithPosts(() => 'cut');
  await duty.restart({ image });
  duty.between.meddle = () => 'pass';
  const before = duty.posts().length;
  await duty.until(() => duty.action()?.state === 'confirmed', hourMs);
  await duty.run(hourMs);
  expect(duty.posts().length - before).toBe(1);
  expect(duty.action()?.id).not.toBe(planned);
  expect(duty.clock.now() - killedAt).toBeLessThan(5 * hourMs);
});

test('a planned action whose mailbox a person paused while the daemon was down is not sent', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.state === 'planned');
  const image = duty.image();
  duty.meddleWithPosts(() => 'cut');
  duty.simulator.fleet.pause(amelia);
  await duty.restart({ image, pauseMs: hourMs });
  duty.between.meddle = () => 'pass';
  const before = duty.posts().length;
  await duty.run(hourMs);
  expect([duty.posts().length - before, duty.reason()]).toEqual([0, 'already_paused']);
});

test('a quiet restart after a confirmed action neither acts nor tells again', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  await duty.until(() => duty.action()?.state === 'confirmed');
  await duty.restart({ pauseMs: 20 * minuteMs });
  await duty.run(2 * hourMs);
  expect([duty.posts().length, duty.mailbox()?.memory?.claim?.kind]).toEqual([1, 'recovery']);
  expect(new Set(await duty.notified())).toEqual(new Set(['event guard_acted confirmed']));
});

test('waits between tries go on after a restart: the second try is not made early', async () => {
  await using duty = await goOnDuty({ poll: calmPoll });
  duty.meddleWithPosts(() => 'swallow');
  await duty.until(() => duty.action()?.attempts === 3 && duty.action()?.state === 'unconfirmed');
  const nextTryAt = duty.action()?.nextTryAt ?? 0;
  await duty.restart();
  await duty.until(() => duty.posts().length === 4, hourMs);
  expect(duty.clock.now()).toBeGreaterThanOrEqual(nextTryAt);
});

test('an account whose loops end has what waits of its answers committed before anyone takes over', async () => {
  await using duty = await goOnDuty({ poll: calmPoll, scenario: stormOf(oliver) });
  const stored = async () => (await duty.store().loadPicture()).mailboxes.find(({ email }) => email === oliver);
  await duty.until(() => duty.mailbox(oliver)?.dns !== null);
  expect(await stored()).not.toEqual(duty.mailbox(oliver));
  const ending = duty.watch().end();
  // Far less than the time that a group waits.
  await duty.clock.advance(1);
  await ending;
  expect(await stored()).toEqual(duty.mailbox(oliver));
});
