// A POST that was answered with 429 or another 4xx and was applied all the same (docs/faults.md O4): it was disowned.

import { describe, expect, test } from 'vitest';
import { hourMs, minuteMs, secondMs } from '../../src/core/time.ts';
import { everything } from '../../src/core/write-scope.ts';
import { amelia, type Duty, goOnDuty, jonas, oliver, rarePoll, stormOf } from '../account/duty.ts';
import type { Meddling } from '../account/go-between.ts';
import { operateOnDuty } from '../operations/rooms.ts';
import { startMovedDaemon } from '../scenario/moved-daemon.ts';

const isPost = ({ method }: { readonly method: string }) => method === 'POST';
const isLook = ({ method, path }: { readonly method: string; readonly path: string }) =>
  method === 'GET' && path.startsWith('/v1/warmup');

const throttled = { status: 429, body: { error: 'too many requests' } };
const readOnly = { status: 403, body: { error: 'the API key lacks the write permission' } };
const applied = true as const;
/** The breach is there when the watch begins, so it is acted upon within minutes. */
const breached = { poll: rarePoll, afterMs: 3 * hourMs };

/** What becomes of the first POST; all later ones pass. */
function firstPost(duty: Duty, fate: Meddling): void {
  const answered = { already: false };
  duty.between.meddle = (request) => {
    if (!isPost(request) || answered.already) return 'pass';
    answered.already = true;
    return fate;
  };
}

const settled = (duty: Duty, email = amelia) => duty.until(() => duty.action(email)?.state === 'confirmed');

describe('what is there after a refusal is ours', () => {
  test.each([
    ['429 with Retry-After', { ...throttled, headers: { 'retry-after': '90' } }],
    ['429 without Retry-After', throttled],
    ['400', { status: 400, body: { error: 'bad request' } }],
    ['401', { status: 401, body: { error: 'the API key is missing or invalid' } }],
    ['403 with JSON', readOnly],
    ['404', { status: 404, body: { error: 'mailbox not found' } }],
    ['409', { status: 409, body: { error: 'conflict' } }],
    ['200 with an error', { status: 200, body: { success: false, message: 'no' } }],
  ])('%s: confirmed, claimed and announced, with one POST', async (_name, answer) => {
    await using duty = await goOnDuty(breached);
    firstPost(duty, { ...answer, applied });
    await settled(duty);
    await duty.run(40 * minuteMs);
    expect([duty.posts().length, duty.action()?.attempts]).toEqual([1, 1]);
    expect(duty.mailbox()?.memory?.claim).toMatchObject({ kind: 'recovery', actionId: duty.action()?.id });
    expect(duty.mailbox()?.changes).toEqual([]);
    expect(await duty.notified()).toEqual(['event guard_acted confirmed']);
    expect([...duty.fleet().accounts()][0]).toMatchObject({ keyWrites: true, keyRejected: false });
  });

  test('a pause that was answered with 429 can be undone', async () => {
    await using duty = await goOnDuty({ scenario: stormOf(jonas), afterMs: 5 * hourMs });
    firstPost(duty, { ...throttled, headers: { 'retry-after': '20' }, applied });
    await settled(duty, jonas);
    const undone = operateOnDuty(duty)('undo', { since_seconds: 3_600, by: 'a test', reason: 'to see it' });
    await duty.run(5 * minuteMs);
    expect((await undone).messages.at(-1)).toBe('1 mailbox restored.');
    expect(duty.simulator.fleet.find(jonas)?.running).toBe(true);
  });

  test('a person whose pause is answered with 429 hears that it was made', async () => {
    await using duty = await goOnDuty({ scenario: stormOf(oliver) });
    await duty.run(10 * minuteMs);
    firstPost(duty, { ...throttled, headers: { 'retry-after': '20' }, applied });
    const found = duty.mailbox(oliver);
    if (!found) throw new Error('no mailbox');
    const by = { name: 'a test', reason: 'to see it' };
    const asked = duty.watch().carryOut(found, { kind: 'pause', targetMode: null, by });
    await duty.run(3 * minuteMs);
    expect(await asked).toMatchObject({ state: 'confirmed', attempts: 1 });
    expect(duty.posts()).toHaveLength(1);
  });
});

describe('until the look has answered, nothing is said of it', () => {
  test('the look after a 429 waits for nothing, for what is read is answered, and the POST is sent once', async () => {
    await using duty = await goOnDuty(breached);
    firstPost(duty, { ...throttled, headers: { 'retry-after': '600' }, applied });
    await duty.until(() => duty.posts().length === 1);
    const postedAt = duty.clock.now();
    await settled(duty);
    expect(duty.clock.now() - postedAt).toBeLessThan(minuteMs);
    await duty.run(20 * minuteMs);
    expect([duty.posts().length, await duty.notified()]).toEqual([1, ['event guard_acted confirmed']]);
  });

  test('a look that fails decides nothing: the next one does', async () => {
    await using duty = await goOnDuty(breached);
    let looks = 0;
    duty.between.meddle = (request) => {
      if (isPost(request)) return { ...readOnly, applied };
      if (!isLook(request) || duty.posts().length === 0) return 'pass';
      looks += 1;
      return looks <= 2 ? { status: 500, body: { error: 'oops' } } : 'pass';
    };
    await settled(duty);
    expect([duty.posts().length, await duty.notified()]).toEqual([1, ['event guard_acted confirmed']]);
  });

  test('without any answer it is unconfirmed, not refused, and looked for before a second POST', async () => {
    await using duty = await goOnDuty(breached);
    const blind = { until: Number.POSITIVE_INFINITY };
    duty.between.meddle = (request) => {
      if (isPost(request)) {
        blind.until = duty.clock.now() + 40 * secondMs;
        return { ...readOnly, applied };
      }
      const hidden = isLook(request) && duty.posts().length > 0 && duty.clock.now() < blind.until;
      return hidden ? { status: 500, body: { error: 'oops' } } : 'pass';
    };
    await duty.until(() => duty.action()?.state === 'unconfirmed');
    expect([...duty.fleet().accounts()][0]?.keyWrites).toBeNull();
    await settled(duty);
    expect(duty.posts()).toHaveLength(1);
    expect(duty.mailbox()?.memory?.claim?.kind).toBe('recovery');
  });

  test('killed between the 429 and the look: the next process finds the intent, looks, and claims what is there', async () => {
    await using duty = await goOnDuty(breached);
    firstPost(duty, { ...throttled, headers: { 'retry-after': '600' }, applied });
    await duty.until(() => duty.posts().length === 1);
    await duty.run(minuteMs);
    const image = duty.image();
    await duty.restart({ image });
    await settled(duty);
    await duty.run(40 * minuteMs);
    expect([duty.posts().length, duty.mailbox()?.memory?.claim?.kind]).toEqual([1, 'recovery']);
    expect(new Set(await duty.notified())).toEqual(new Set(['event guard_acted confirmed']));
  });

  test('an account that starts its loop over after a 429 that was applied goes on where it was', async () => {
    const answer = { ...throttled, do: 'answer', headers: { 'retry-after': '600' }, applied } as const;
    const scenario = {
      ...stormOf(amelia),
      faults: [{ fault: answer, route: 'warmup', method: 'POST', times: 1 } as const],
    };
    const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
    await using stage = await startMovedDaemon({ scenario, poll });
    const posts = () => stage.simulator.requests.filter(isPost);
    await stage.until('the POST', () => posts().length === 1, 6 * hourMs);
    await stage.reload((config) => {
      const { plan: _, ...account } = config.accounts[0] ?? {};
      config.accounts[0] = { ...account, requests_per_minute: 90 };
    });
    await stage.until('the claim', () => stage.mailbox(amelia).memory?.claim?.kind === 'recovery', hourMs);
    await stage.run(hourMs);
    expect([posts().length, stage.notified('guard_acted')]).toEqual([1, ['event']]);
  });

  test('the emergency stop during the wait: the look goes on, and nothing is sent again', async () => {
    await using duty = await goOnDuty(breached);
    firstPost(duty, { ...throttled, headers: { 'retry-after': '600' } });
    await duty.until(() => duty.posts().length === 1);
    duty.fleet().putWritesOff({
      scope: everything,
      since: duty.clock.now(),
      until: null,
      by: 'a test',
      reason: 'stop',
    });
    await duty.run(40 * minuteMs);
    expect([duty.posts().length, duty.action()?.state]).toEqual([1, 'dropped']);
  });
});

describe('what is not there was refused', () => {
  test('a refusal is found out after one look', async () => {
    await using duty = await goOnDuty(breached);
    duty.between.meddle = (request) => (isPost(request) ? readOnly : 'pass');
    await duty.until(() => duty.action()?.state === 'refused');
    const posted = duty.between.requests.findIndex(isPost);
    expect(duty.between.requests.slice(posted + 1).filter(isLook)).toHaveLength(1);
  });
});
