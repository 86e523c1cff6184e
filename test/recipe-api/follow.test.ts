// A run is followed to its end, whatever the service does on the way; time is moved by hand.
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { type Followed, type FollowOptions, followRun, RecipeApi } from '../../src/recipes/client/client.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { type Played, RecipeHost } from '../support/recipe-service.ts';

const minuteMs = 60_000;
const ok = (body: object): Played => ({ status: 200, body: { id: 'run-1', ...body } });
const done = ok({ status: 'succeeded', rows: [{ n: 1 }] });
const missing: Played = { status: 404, body: { error: 'no such run' } };

interface Outcome {
  readonly followed: Followed;
  readonly afterMs: number;
  readonly requests: number;
}

/** Follows a run whose record is answered with each of these in turn. */
async function follow(plays: readonly Played[], options: Partial<FollowOptions> = {}): Promise<Outcome> {
  await using host = await RecipeHost.start();
  host.run = RecipeHost.inTurn(...plays);
  const clock = movedClock(0);
  const world = { clock, random: () => 1, log: pino({ level: 'silent' }), command: 'warmwarden' };
  const api = new RecipeApi({ baseUrl: host.baseUrl, apiKey: host.key }, world);
  let followed: Followed | undefined;
  const following = followRun(api, 'run-1', { withinMs: 5 * minuteMs, ...options }, world).then((end) => {
    followed = end;
    return end;
  });
  await clock.advanceUntil(() => followed !== undefined, 20 * minuteMs);
  const end = await following;
  await api.close();
  return { followed: end, afterMs: clock.now(), requests: host.taken.length };
}

describe('a run that is followed', () => {
  it('ends with its rows', async () => {
    const states: string[] = [];
    const plays = [ok({ status: 'queued' }), ok({ status: 'running' }), done];
    const { followed, requests } = await follow(plays, { onProgress: (run) => states.push(run.state) });
    expect(followed).toMatchObject({ kind: 'ended', page: { run: { state: 'succeeded', rows: [{ n: 1 }] } } });
    expect([requests, states]).toEqual([3, ['queued', 'running', 'succeeded']]);
  });

  it('is neither ended nor failed by a word that nobody knows', async () => {
    const { followed } = await follow([ok({ status: 'Defrosting', rows: [] })]);
    expect(followed).toMatchObject({
      kind: 'unfinished',
      run: { state: 'unknown' },
      detail: 'its status is Defrosting',
    });
    expect((await follow([ok({ status: 'Defrosting' }), done])).followed.kind).toBe('ended');
  });

  it('survives server errors, pages, lost answers and throttling on the way', async () => {
    const page: Played = { status: 200, body: '<html>' };
    const { followed } = await follow([
      { status: 503 },
      page,
      'lost',
      { status: 429 },
      ok({ status: 'running' }),
      done,
    ]);
    expect(followed.kind).toBe('ended');
  });

  it('leaves the service alone as long as Retry-After says, and a minute when it does not say', async () => {
    const named = await follow([{ status: 429, headers: { 'retry-after': '90' } }, done]);
    expect(named.afterMs).toBeGreaterThanOrEqual(90_000);
    expect((await follow([{ status: 429 }, done])).afterMs).toBeGreaterThanOrEqual(minuteMs);
  });

  it('may be unknown to the service for a moment, but not for long', async () => {
    expect((await follow([missing, missing, done])).followed.kind).toBe('ended');
    const { followed, requests } = await follow([missing]);
    expect(followed).toMatchObject({ kind: 'lost', failure: { kind: 'missing' } });
    expect(requests).toBe(4);
  });

  it('is lost at once when the key is refused', async () => {
    const { followed, requests } = await follow([{ status: 401, body: { error: 'key' } }]);
    expect(followed).toMatchObject({ kind: 'lost', failure: { kind: 'unauthorized' } });
    expect(requests).toBe(1);
  });

  it('asks at most 60 times a minute, the smallest plan', async () => {
    const { followed, requests } = await follow([ok({ status: 'running' })], { withinMs: 10 * minuteMs });
    expect(followed).toMatchObject({ kind: 'unfinished', run: { state: 'running' } });
    expect(requests).toBeGreaterThan(60);
    expect(requests).toBeLessThan(10 * 60);
  });
});
