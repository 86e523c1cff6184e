// The stream of live pages: what changed, once, in order, also after a break; and what it does with those who don't read.
import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { html } from 'hono/html';
import { describe, expect, test } from 'vitest';
import type { Auth } from '../../src/web/access/auth.ts';
import { type LiveLimits, LiveStream, type Sink, usualLimits } from '../../src/web/live/live-stream.ts';
import { Regions, type View } from '../../src/web/page/parts/elements.ts';
import { expectNoSleepers } from '../support/sleepers.ts';
import { exampleFleet, mailbox, now, verdict } from './example-fleet.ts';
import { ask, serve, stillWorld } from './running-server.ts';

const soon: LiveLimits = { ...usualLimits, tickMs: 5 };

interface Heard {
  readonly id: string;
  readonly event: string;
  readonly data: {
    readonly at: string;
    readonly trouble?: string;
    readonly pieces?: Record<string, string>;
    readonly lists?: Record<string, string[]>;
  };
}

/** The events of an address, read one by one. */
async function listen(url: string, headers: Record<string, string> = {}) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers }, resolve).on('error', reject);
  });
  async function* events(): AsyncGenerator<Heard> {
    let waiting = '';
    for await (const chunk of response) {
      const blocks = (waiting + chunk).split('\n\n');
      waiting = blocks.pop() ?? '';
      for (const block of blocks) {
        const [, id = '', event = '', data = ''] = /^id: (.*)\nevent: (.*)\ndata: (.*)$/.exec(block) ?? [];
        if (event) yield { id, event, data: JSON.parse(data) };
      }
    }
  }
  const all = events();
  const next = async (): Promise<Heard> => {
    const { value } = await all.next();
    if (!value) throw new Error('the stream ended');
    return value;
  };
  const ended = async () => {
    try {
      while (!(await all.next()).done);
    } catch {
      // Cut: also an end.
    }
    return true;
  };
  return { response, next, ended };
}

const eventsOf = (page: string) => /data-events="([^"]*)"/.exec(page)?.[1]?.replaceAll('&amp;', '&') ?? '';

test('a page hears what changed after it was made, the pieces alone, and after a break what it missed', async () => {
  const fleet = exampleFleet();
  await using server = await serve(fleet, { liveLimits: soon });
  const page = (await ask(`${server.url}/`)).body.toString();
  const stream = await listen(server.url + eventsOf(page));
  expect(stream.response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' });
  expect(stream.response.headers['content-encoding']).toBeUndefined();
  const first = await stream.next();
  expect([first.event, first.data]).toEqual(['beat', { at: new Date(now).toISOString() }]);

  const worse = verdict({ reason: 'already_paused', run: 'paused', sent: 50, bounced: 20 });
  fleet.putMailbox(mailbox('m9', 'box9@acme.example', { verdict: { at: now, answer: worse } }));
  const second = await stream.next();
  expect(Object.keys(second.data.pieces ?? {}).sort()).toEqual(['live-states', 'live-summary', 'row-acme/m9']);
  expect(second.data.pieces?.['row-acme/m9']).toContain('Paused by others');
  const order = second.data.lists?.['rows'] ?? [];
  expect(order.indexOf('row-acme/m9')).toBeLessThan(order.indexOf('row-acme/m5'));
  stream.response.destroy();

  fleet.putMailbox(mailbox('m5', 'box5@acme.example', { verdict: { at: now, answer: worse } }));
  const again = await listen(`${server.url}/events?at=/`, { 'last-event-id': second.id });
  expect(Object.keys((await again.next()).data.pieces ?? {})).toContain('row-acme/m5');
  again.response.destroy();
  const stranger = await listen(`${server.url}/events?at=/`, { 'last-event-id': 'of-before-9' });
  expect(Object.keys((await stranger.next()).data.pieces ?? {}).length).toBeGreaterThan(15);
  stranger.response.destroy();
});

test('time alone is no change: the script of the page counts the minutes', async () => {
  const fleet = exampleFleet();
  await using server = await serve(fleet, { liveLimits: { ...soon, beatMs: 10 } });
  const { world } = server;
  const page = (await ask(`${server.url}/mailboxes/acme/m5`)).body.toString();
  const stream = await listen(server.url + eventsOf(page));
  await stream.next();
  await world.clock.advance(180_000);
  const heard = [await stream.next(), await stream.next(), await stream.next()];
  expect(heard.map(({ event }) => event)).toEqual(['beat', 'beat', 'beat']);
  expect(heard.at(-1)?.data.at).toBe(new Date(now + 180_000).toISOString());
  stream.response.destroy();
});

test('a page that is gone, or could not be read, is not of now: its readers hear so until it can be read', async () => {
  const fleet = exampleFleet();
  let fails = false;
  const settings = () => {
    if (fails) throw new Error('a mistake of ours');
    return [];
  };
  await using server = await serve(fleet, { liveLimits: { ...soon, beatMs: 10 }, settings });
  const heard = async (stream: Awaited<ReturnType<typeof listen>>, trouble: string | undefined) => {
    while ((await stream.next()).data.trouble !== trouble);
  };
  const mailboxPage = await listen(`${server.url}/events?at=/mailboxes/acme/m9`);
  const configuration = await listen(`${server.url}/events?at=/configuration`);
  await heard(mailboxPage, undefined);
  fleet.removeMailbox('acme', 'm9');
  await heard(mailboxPage, 'gone');
  await heard(configuration, undefined);
  fleet.putMailbox(mailbox('m9', 'box9@acme.example'));
  await heard(mailboxPage, undefined);
  fails = true;
  await heard(configuration, 'failed');
  fails = false;
  await heard(configuration, undefined);
  for (const { response } of [mailboxPage, configuration]) response.destroy();
});

test('no more readers than there is room for; the end of the server ends them all', async () => {
  const server = await serve(exampleFleet(), { liveLimits: { ...soon, readers: 1 } });
  const stream = await listen(`${server.url}/events?at=/`);
  await stream.next();
  const refused = await ask(`${server.url}/events?at=/`);
  expect([refused.status, refused.headers['retry-after']]).toEqual([503, '30']);
  expect(JSON.parse(refused.body.toString()).error).toBe('too_many_readers');
  await server[Symbol.asyncDispose]();
  expect(await stream.ended()).toBe(true);
});

test.each(['', '?at=', '?at=//elsewhere.example/', '?at=https://elsewhere.example/'])(
  '/events%s is refused: it names no page of this server',
  async (query) => {
    await using server = await serve(exampleFleet());
    expect((await ask(`${server.url}/events${query}`)).status).toBe(400);
  },
);

describe('who listens', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const token = (name: 'operator' | 'viewer') => ({ name, role: name, sha256: sha256(name) });
  const bearer = (name: string) => ({ authorization: `Bearer ${name}` });

  test('hears of commands as an operator only, like the page says them', async () => {
    const auth = () => ({ tokens: [token('operator'), token('viewer')] });
    await using server = await serve(exampleFleet(), { auth, liveLimits: soon });
    for (const [name, shown] of [
      ['operator', true],
      ['viewer', false],
    ] as const) {
      const page = (await ask(`${server.url}/`, bearer(name))).body.toString();
      const stream = await listen(server.url + eventsOf(page).replace(/since=[^&]*/, 'since=x'), bearer(name));
      const sent = Object.values((await stream.next()).data.pieces ?? {}).join('');
      for (const markup of [page, sent]) {
        expect([name, /[?;&]do=/.test(markup), markup.includes('form="selection"')]).toEqual([name, shown, shown]);
      }
      stream.response.destroy();
    }
  });

  test('is cut off when the token is removed', async () => {
    let inForce: Auth = { tokens: [token('operator'), token('viewer')] };
    await using server = await serve(exampleFleet(), { auth: () => inForce, liveLimits: { ...soon, beatMs: 10 } });
    const stream = await listen(`${server.url}/events?at=/`, bearer('viewer'));
    await stream.next();
    inForce = { tokens: [token('operator')] };
    expect(await stream.ended()).toBe(true);
    // A browser that is offered Basic asks for a password in a window of its own.
    const { status, headers } = await ask(`${server.url}/events?at=/`);
    expect([status, headers['www-authenticate']]).toEqual([401, 'Bearer realm="Warmwarden"']);
  });
});

function sink(reads: boolean) {
  const sent: string[] = [];
  let waiting = 0;
  const one: Sink & { sent: string[]; isCut: boolean } = {
    sent,
    isCut: false,
    waiting: () => waiting,
    send: (bytes) => {
      if (!reads) waiting += bytes.byteLength;
      sent.push(new TextDecoder().decode(bytes));
    },
    cut: () => {
      one.isCut = true;
    },
    mayOperate: true,
    mayStay: async () => true,
  };
  return one;
}

test('100 readers of an address cost one look a change, and get the same bytes; one that does not read is cut', async () => {
  const world = stillWorld();
  let [revision, looks] = [0, 0];
  const read = async (): Promise<View> => {
    looks += 1;
    const regions = new Regions();
    return { title: 'a page', body: regions.piece('count', html`${revision} ${'x'.repeat(1_000)}`), regions };
  };
  const limits = { ...soon, waitingBytes: 1_500 };
  const live = new LiveStream({ world, prefixed: (html) => html, read, revision: () => revision, limits });
  const readers = Array.from({ length: 100 }, (_, index) => sink(index > 0));
  for (const one of readers) await live.open('/', null, one);
  const before = looks;
  const seen = () => readers.at(-1)?.sent.join('') ?? '';
  for (const change of [1, 2, 3]) {
    revision = change;
    await expect.poll(() => seen()).toContain(`>${change} x`);
  }
  // The loop's first look comes on top, when it did not see a change yet.
  expect(looks - before).toBeLessThanOrEqual(4);
  expect(new Set(readers.slice(1).map(({ sent }) => sent.slice(2).join(''))).size).toBe(1);
  expect(readers.map(({ isCut }) => isCut)).toEqual([true, ...Array(99).fill(false)]);
  await live.close();
  expectNoSleepers(world.clock);
});

test('pages that are opened at once are read in turns of their own, and once for all readers of an address', async () => {
  const world = stillWorld();
  let turn = 0;
  let counting = setImmediate(function count() {
    turn += 1;
    counting = setImmediate(count);
  });
  const reads: { readonly address: string; readonly turn: number }[] = [];
  const read = async (address: string): Promise<View> => {
    reads.push({ address, turn });
    const regions = new Regions();
    return { title: 'a page', body: regions.piece('name', html`${address}`), regions };
  };
  const limits = { ...soon, tickMs: 60_000 };
  const live = new LiveStream({ world, prefixed: (one) => one, read, revision: () => 0, limits });
  const readers = Array.from({ length: 40 }, (_, index) => ({ address: `/?page=${index % 4}`, sink: sink(true) }));
  await Promise.all(readers.map((one) => live.open(one.address, null, one.sink)));
  // Also when nothing has changed, so that nothing is written to them.
  const [since = ''] = /(?<=^id: )\S+/m.exec(readers.at(-1)?.sink.sent.join('') ?? '') ?? [];
  const before = reads.length;
  await Promise.all([0, 1, 2, 3].map((index) => live.open(`/?page=${index}`, since, sink(true))));
  clearImmediate(counting);
  const again = reads.splice(before);
  expect([before, again.length, new Set(again.map((one) => one.turn)).size]).toEqual([4, 4, 4]);
  expect(reads.map(({ address }) => address)).toEqual(['/?page=0', '/?page=1', '/?page=2', '/?page=3']);
  expect(new Set(reads.map((one) => one.turn)).size).toBe(4);
  for (const one of readers) expect(one.sink.sent.join('')).toContain(`>${one.address}<`);
  await live.close();
});

test('a hundred readers are written to in several turns of the event loop: others come in between', async () => {
  const world = stillWorld();
  let revision = 0;
  const read = async (): Promise<View> => {
    const regions = new Regions();
    return { title: 'a page', body: regions.piece('count', html`${revision}`), regions };
  };
  const live = new LiveStream({ world, prefixed: (one) => one, read, revision: () => revision, limits: soon });
  const order: (number | 'others')[] = [];
  for (let index = 0; index < 100; index += 1) {
    const send = () => {
      if (revision === 0) return;
      if (order.length === 0) setImmediate(() => order.push('others'));
      order.push(index);
    };
    await live.open('/', null, { ...sink(true), send });
  }
  revision = 1;
  await expect.poll(() => order.includes(99)).toBe(true);
  expect(order.indexOf('others')).toBeGreaterThan(0);
  expect(order.indexOf('others')).toBeLessThan(order.indexOf(99));
  await live.close();
});

test.each([
  ['stops reading', { stallMs: 30 }],
  ['has had its place for long', { lifeMs: 30 }],
])('a reader that %s gives its place to others', async (_what, limits) => {
  const world = stillWorld();
  const read = async (): Promise<View> => ({ title: 'a page', body: html``, regions: new Regions() });
  const live = new LiveStream({
    ...{ world, prefixed: (markup: string) => markup, read, revision: () => 0 },
    limits: { ...soon, beatMs: 5, readers: 1, ...limits },
  });
  const stalled = sink(false);
  await live.open('/', null, stalled);
  expect(live.isFull).toBe(true);
  await expect.poll(() => [live.isFull, stalled.isCut]).toEqual([false, true]);
  const heard = sink(true);
  await live.open('/', null, heard);
  await expect.poll(() => heard.isCut || heard.sent.length > 20).toBe(true);
  expect(heard.isCut).toBe('lifeMs' in limits);
  await live.close();
});
