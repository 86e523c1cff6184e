import { describe, expect, it } from 'vitest';
import { type Followed, type FollowOptions, followRun, RecipeApi } from '../../src/recipes/client/client.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { type Played, RecipeHost } from '../support/recipe-service.ts';
import { silentWorld } from '../support/silent-world.ts';

const world = silentWorld();
const ok = (body: unknown) => () => ({ status: 200, body });
const asked = { recipe: 'at-risk', parameters: {}, apply: false };

/** A service that plays this, and its client, which has the address with capital letters. */
async function started(plays: Partial<Pick<RecipeHost, 'list' | 'trigger' | 'run'>> = {}) {
  const host = Object.assign(await RecipeHost.start(), plays);
  const api = new RecipeApi({ baseUrl: host.baseUrl.replace('http', 'HTTP'), apiKey: host.key }, world);
  const end = async () => {
    await api.close();
    await host[Symbol.asyncDispose]();
  };
  return { host, api, [Symbol.asyncDispose]: end };
}

describe('the list of recipes', () => {
  const entry = { id: 'x', title: null, description: null, parameters: null, operation: 'unknown' };
  const shapes: readonly [string, unknown, readonly string[]][] = [
    ['under `recipes`', { recipes: [{ id: 'x' }] }, ['x']],
    ['as the whole answer', [{ id: 'x' }, { id: 'y' }], ['x', 'y']],
    ['under `data`, with more around it', { data: [{ id: 'x', owner: 'me' }], total: 1 }, ['x']],
    ['of numbers for ids', { recipes: [{ id: 7 }] }, ['7']],
    ['of bare ids', { recipes: ['x', 'y'] }, ['x', 'y']],
    ['that is empty', { recipes: [] }, []],
  ];
  it.each(shapes)('is read %s', async (_shape, body, ids) => {
    await using service = await started({ list: ok(body) });
    const list = await service.api.recipes();
    expect(list.ok && list.value.recipes.map(({ id }) => id)).toEqual(ids);
  });

  it('keeps the good entries beside the bad ones, and counts the bad', async () => {
    await using service = await started({
      list: ok({ recipes: [{ id: 'x' }, null, { title: 'no id' }, 4, { id: '' }] }),
    });
    const list = await service.api.recipes();
    expect(list).toEqual({ ok: true, value: { recipes: [entry], unreadable: 4, problems: [], truncated: false } });
  });

  it('is followed from page to page, but only behind our own base address', async () => {
    await using service = await started();
    service.host.list = RecipeHost.inTurn(
      { status: 200, body: { recipes: [{ id: 'a' }] }, headers: { link: '</v1/recipes?page=2>; rel="next"' } },
      { status: 200, body: { recipes: [{ id: 'b' }], next: `${service.host.baseUrl}/recipes?page=3` } },
      { status: 200, body: { recipes: [{ id: 'c' }], next: 'https://elsewhere.example/v1/recipes?page=4' } },
    );
    const list = await service.api.recipes();
    expect(list.ok && list.value.recipes.map(({ id }) => id)).toEqual(['a', 'b', 'c']);
    expect(list.ok && list.value.truncated).toBe(true);
    const paths = service.host.taken.map(({ path }) => path);
    expect(paths).toEqual(['/v1/recipes', '/v1/recipes?page=2', '/v1/recipes?page=3']);
  });

  it('that is null or absent is malformed, not empty', async () => {
    for (const body of [{ recipes: null }, {}, 'a page', { recipes: {} }]) {
      await using service = await started({ list: ok(body) });
      const list = await service.api.recipes();
      expect(!list.ok && list.failure.kind).toBe('malformed');
    }
  });

  it('that is redirected is refused, and the key goes nowhere', async () => {
    await using elsewhere = await RecipeHost.start();
    await using service = await started({
      list: () => ({ status: 302, headers: { location: `${elsewhere.baseUrl}/recipes` } }),
    });
    expect(await service.api.recipes()).toMatchObject({ ok: false, failure: { kind: 'refused', status: 302 } });
    expect(elsewhere.taken).toEqual([]);
  });
});

describe('a trigger', () => {
  const begun = (id: string) => ({ kind: 'started', run: { id } });
  const unclear = { kind: 'may_have_started' };
  const refused = (kind: string) => ({ kind: 'not_started', failure: { kind } });
  const answers: readonly [string, Played, object][] = [
    ['202 with the run', { status: 202, body: { id: 'run-1', status: 'queued' } }, begun('run-1')],
    ['201 with the run inside `run`', { status: 201, body: { run: { id: 5, state: 'pending' } } }, begun('5')],
    ['200 with a run id alone', { status: 200, body: { run_id: 'r' } }, begun('r')],
    ['an empty 202 with a Location', { status: 202, headers: { location: '/v1/runs/a%20b' } }, begun('a b')],
    ['a run that failed at once', { status: 200, body: { id: 'r', status: 'failed', error: 'no data' } }, begun('r')],
    ['nothing: it is lost', 'lost', unclear],
    ['500', { status: 500, body: { error: 'oops' } }, unclear],
    ['504 by a proxy', { status: 504, body: '<html>Gateway timeout</html>' }, unclear],
    ['200 and a page', { status: 200, body: '<html>Welcome</html>' }, unclear],
    ['202 and no run', { status: 202, body: { message: 'accepted' } }, unclear],
    ['408', { status: 408 }, unclear],
    ['401', { status: 401, body: { error: 'key' } }, refused('unauthorized')],
    ['403', { status: 403, body: { error: 'plan' } }, refused('refused')],
    ['404', { status: 404, body: { error: 'no such recipe' } }, refused('missing')],
    ['429', { status: 429, headers: { 'retry-after': '7' } }, refused('throttled')],
    ['a redirect', { status: 307, headers: { location: 'https://elsewhere.example/v1' } }, refused('refused')],
    ['200 with an error and no run', { status: 200, body: { success: false, error: 'no' } }, refused('refused')],
  ];
  it.each(answers)('that is answered with %s is sent once, and has that outcome', async (_answer, played, outcome) => {
    await using service = await started({ trigger: () => played });
    expect(await service.api.trigger(asked)).toMatchObject(outcome);
    expect(service.host.taken).toHaveLength(1);
  });

  it('keeps Retry-After, sends the documented request, and a body only when there is more to say', async () => {
    await using service = await started({ trigger: () => ({ status: 429, headers: { 'retry-after': '7' } }) });
    const said = await service.api.trigger({ recipe: 'a/b?c', parameters: { days: 7 }, apply: true });
    expect(said).toMatchObject({ failure: { retryAfterMs: 7_000 } });
    await service.api.trigger(asked);
    expect(service.host.taken.map(({ path, body }) => [path, body])).toEqual([
      ['/v1/recipes/a%2Fb%3Fc/runs', '{"parameters":{"days":7},"apply":true}'],
      ['/v1/recipes/at-risk/runs', ''],
    ]);
  });

  it('never brings the key into a message, whoever echoes it', async () => {
    await using service = await started({
      trigger: ({ headers }) => ({ status: 500, body: { error: `you sent ${headers.authorization}` } }),
    });
    const said = await service.api.trigger(asked);
    expect(said.kind === 'may_have_started' && said.detail).toContain('[key]');
    expect(JSON.stringify(said)).not.toContain(service.host.key);
  });
});

describe('a run', () => {
  const records: readonly [string, unknown, object][] = [
    ['as documented', { id: 'r', status: 'succeeded', rows: [{ a: 1 }] }, { state: 'succeeded', rows: [{ a: 1 }] }],
    ['inside `run`', { run: { id: 'r', status: 'Completed' }, rows: [] }, { state: 'succeeded', rows: [] }],
    ['without an id of its own', { status: 'in-progress' }, { id: 'r', state: 'running', rows: null }],
    ['with rows in `output`', { status: 'done', output: { rows: [[1, 2]] } }, { state: 'succeeded', rows: [[1, 2]] }],
    ['with rows under `output_rows`', { status: 'done', output_rows: ['x'] }, { rows: ['x'] }],
    ['with rows in `result`', { status: 'done', result: ['x'] }, { rows: ['x'] }],
    ['in a state nobody knows', { status: 'Defrosting' }, { state: 'unknown', stateSaid: 'Defrosting', rows: null }],
    ['without a state', { rows: [] }, { state: 'unknown', stateSaid: null, rows: [] }],
    ['cancelled, in American', { status: 'CANCELED' }, { state: 'cancelled' }],
    ['that failed', { status: 'failed', error: { message: 'no data' } }, { state: 'failed', error: 'no data' }],
    ['with rows to come', { status: 'succeeded', rows: null, row_count: 3 }, { rows: null, rowCount: 3 }],
  ];
  it.each(records)('is read %s', async (_shape, body, expected) => {
    await using service = await started({ run: ok(body) });
    const read = await service.api.run('r');
    expect(read.ok && read.value.run).toMatchObject(expected);
  });

  it('that is an error in disguise, a page or nothing at all is malformed', async () => {
    for (const body of [{ error: 'internal' }, '<html>', '', [], { success: false }, null]) {
      await using service = await started({ run: ok(body) });
      const read = await service.api.run('r');
      expect(!read.ok && read.failure.kind, JSON.stringify(body)).toBe('malformed');
    }
  });

  it('has pages of rows where the service links them', async () => {
    const page = (rows: readonly number[], next = {}) => ok({ id: 'r', status: 'succeeded', rows, ...next })();
    const run = RecipeHost.inTurn(page([1], { next: '?after=1' }), page([2]));
    await using service = await started({ run });
    const one = await service.api.run('r');
    expect(one.ok && one.value.nextPage).toBe('/runs/r?after=1');
    const two = await service.api.run('r', '/runs/r?after=1');
    expect(two.ok && two.value).toMatchObject({ run: { rows: [2] }, nextPage: null });
    expect(service.host.taken[1]?.path).toBe('/v1/runs/r?after=1');
  });
});

const minuteMs = 60_000;
const runIs = (body: object): Played => ({ status: 200, body: { id: 'run-1', ...body } });
const done = runIs({ status: 'succeeded', rows: [{ n: 1 }] });
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
  const world = silentWorld(clock, () => 1);
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
    const plays = [runIs({ status: 'queued' }), runIs({ status: 'running' }), done];
    const { followed, requests } = await follow(plays, { onProgress: (run) => states.push(run.state) });
    expect(followed).toMatchObject({ kind: 'ended', page: { run: { state: 'succeeded', rows: [{ n: 1 }] } } });
    expect([requests, states]).toEqual([3, ['queued', 'running', 'succeeded']]);
  });

  it('is neither ended nor failed by a word that nobody knows', async () => {
    const { followed } = await follow([runIs({ status: 'Defrosting', rows: [] })]);
    expect(followed).toMatchObject({
      kind: 'unfinished',
      run: { state: 'unknown' },
      detail: 'its status is Defrosting',
    });
    expect((await follow([runIs({ status: 'Defrosting' }), done])).followed.kind).toBe('ended');
  });

  it('survives server errors, pages, lost answers and throttling on the way', async () => {
    const page: Played = { status: 200, body: '<html>' };
    const { followed } = await follow([
      { status: 503 },
      page,
      'lost',
      { status: 429 },
      runIs({ status: 'running' }),
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
    const { followed, requests } = await follow([runIs({ status: 'running' })], { withinMs: 10 * minuteMs });
    expect(followed).toMatchObject({ kind: 'unfinished', run: { state: 'running' } });
    expect(requests).toBeGreaterThan(60);
    expect(requests).toBeLessThan(10 * 60);
  });
});
