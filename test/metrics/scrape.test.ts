// A scrape as a scraper meets it: encodings, HEAD, many at once, what leaves meanwhile, and the series limit. The blocks of
// mailboxes, whatever changes between two scrapes.
import { connect } from 'node:net';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { MailboxBlocks } from '../../src/metrics/mailbox-blocks.ts';
import { type Answer, answerOf, type Piece } from '../../src/metrics/scrape-answer.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { exampleFleet, fleetOf, mailbox, now, verdict } from '../web/example-fleet.ts';
import { ask, metricsOf, metricsSettings, serve, stillWorld, textOf } from '../web/running-server.ts';

const mailboxesIn = (text: string) => text.match(/^warmwarden_mailbox_info\{/gm)?.length ?? 0;
/** Without what the process measures of itself, which is another value each time. */
const lasting = (text: string) =>
  text.split('\n').filter((line) => !/^(# \w+ )?(process|nodejs|warmwarden_event_loop)_/.test(line));

describe('the encoding', () => {
  test.each([
    ['gzip', 'gzip'],
    ['gzip;q=0', undefined],
    ['*;q=0.5', 'gzip'],
    ['br, gzip;q=0, *', undefined],
    ['br', undefined],
    ['', undefined],
    ['deflate, GZIP;q=0.5', 'gzip'],
  ])('of a scraper that accepts "%s" is %s', async (accepted, encoding) => {
    await using server = await serve(exampleFleet());
    const answer = await ask(`${server.url}/metrics`, { 'accept-encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(answer.headers['vary']).toBe('Accept-Encoding');
    expect(answer.headers['content-length']).toBe(String(answer.body.length));
    const text = (encoding ? gunzipSync(answer.body) : answer.body).toString();
    expect(lasting(text)).toEqual(lasting(await textOf(server.metrics)));
  });

  test('of HEAD is told as for GET, without a body', async () => {
    await using server = await serve(fleetOf(3));
    const head = await ask(`${server.url}/metrics`, { 'accept-encoding': 'gzip' }, 'HEAD');
    expect([head.status, head.body.length, head.headers['content-encoding']]).toEqual([200, 0, 'gzip']);
    expect(Number(head.headers['content-length'])).toBeGreaterThan(1_000);
  });
});

describe('many scrapers', () => {
  test.each([
    ['is read', 'gzip'],
    ['is made', 'gzip'],
    ['is read', undefined],
  ])('change nothing in an answer that still %s', async (state, acceptEncoding) => {
    const fleet = fleetOf(600);
    const metrics = metricsOf(fleet, stillWorld());
    const request = { acceptEncoding, ready: true };
    const whole = async (answer: Promise<Answer>) => {
      const bytes = Buffer.from(await new Response((await answer).body()).arrayBuffer());
      return lasting((acceptEncoding ? gunzipSync(bytes) : bytes).toString());
    };
    const change = () => {
      for (let n = 0; n < 600; n += 2) fleet.putMailbox(mailbox(`m${n}`, `box${n}@acme.example`, { stats: null }));
    };
    await whole(metrics.expose(request));
    const slow = metrics.expose(request);
    if (state === 'is read') await slow;
    const expected = state === 'is read' ? await whole(metrics.expose(request)) : null;
    change();
    // Neither a reader that is gone before its answer is made, nor one that reads nothing, makes room.
    await metrics.expose(request);
    change();
    await whole(metrics.expose(request));
    const read = await whole(slow);
    if (expected) expect(read).toEqual(expected);
    expect(mailboxesIn(read.join('\n'))).toBe(600);
  });

  test('who ask after a mailbox left do not get it from a scrape that was under way', async () => {
    const fleet = fleetOf(2_000);
    const metrics = metricsOf(fleet, stillWorld());
    const underWay = textOf(metrics);
    await new Promise((resolve) => setImmediate(resolve));
    fleet.removeMailbox('acme', 'm1999');
    fleet.putMailbox(mailbox('late', 'late@acme.example'));
    const [after, alsoAfter] = await Promise.all([textOf(metrics), textOf(metrics)]);
    await underWay;
    for (const text of [after, alsoAfter]) {
      expect(text).not.toContain('"box1999@acme.example"');
      expect(text).toContain('"late@acme.example"');
      expect(mailboxesIn(text)).toBe(2_000);
    }
  });

  test('who leave in the middle or read nothing hold up nobody', async () => {
    await using server = await serve(fleetOf(3_000));
    const lazy = connect(server.port, '127.0.0.1');
    lazy.on('error', () => {});
    lazy.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    const leaver = connect(server.port, '127.0.0.1');
    leaver.write('GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
    await new Promise((resolve) => leaver.once('data', resolve));
    leaver.destroy();
    const { body } = await ask(`${server.url}/metrics`);
    expect(mailboxesIn(body.toString())).toBe(3_000);
    lazy.destroy();
  });
});

test('other settings that come while a scrape is under way hold from the next one on', async () => {
  const metrics = metricsOf(fleetOf(2_000), stillWorld());
  const underWay = textOf(metrics);
  await new Promise((resolve) => setImmediate(resolve));
  metrics.configured({ ...metricsSettings, mailboxLabel: 'id' });
  expect(mailboxesIn(await underWay)).toBe(2_000);
  const text = await textOf(metrics);
  expect(mailboxesIn(text)).toBe(2_000);
  expect(text).not.toContain('@acme.example"');
});

test('a day later the same answer is read again: a row is no longer too far ahead', async () => {
  const fleet = new Fleet();
  const odd = mailbox('m1', 'a@acme.example');
  const rows = odd.stats?.answer.rows?.map((row, index, all) =>
    index === all.length - 1 ? { ...row, date: '2026-03-14', spamLanded: 20 } : row,
  );
  fleet.putMailbox({ ...odd, stats: { at: now, answer: { rows: rows ?? null } } });
  const world = stillWorld();
  const metrics = metricsOf(fleet, world);
  const spam = async () => /^warmwarden_spam_ratio\{.*\} (.*)$/m.exec(await textOf(metrics))?.[1];
  const before = await spam();
  await world.clock.advance(24 * 3_600_000);
  expect(Number(await spam())).toBeGreaterThan(Number(before));
});

const blocksOf = (fleet: Fleet) => new MailboxBlocks(fleet, movedClock(now), metricsSettings);
const textOfPieces = (pieces: readonly Piece[]) => new Response(answerOf(pieces, undefined).body()).text();
const lines = (text: string) => text.split('\n').filter(Boolean).sort();

/** Any letter there is. fast-check's own would first make a table of all of them. */
const unit = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
const ids = fc.integer({ min: 0, max: 600 }).map((id) => `m${id}`);
const change = fc.record({
  id: ids,
  email: fc.constantFrom('a@acme.example', '"quo\\ted"@acme.example', 'пошта@приклад.example', '\\n"@b.example'),
  provider: fc.string({ unit, maxLength: 6 }),
  sent: fc.option(fc.nat(300)),
});
/** Between two scrapes: mailboxes that are put, mailboxes that leave. */
const some = { minLength: 1, maxLength: 60 };
const round = fc.record({ put: fc.array(change, some), leave: fc.array(ids, some) });

test('scrape after scrape, the blocks of mailboxes have what new ones have', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 3 }), async (rounds) => {
      const fleet = new Fleet();
      for (let n = 0; n < 300; n += 1) fleet.putMailbox(mailbox(`m${n}`, `box${n}@acme.example`));
      const blocks = blocksOf(fleet);
      for (const [index, { put, leave }] of rounds.entries()) {
        // Every second round changes values alone: with a name, its whole block is rendered again.
        const isCalm = index % 2 === 1;
        for (const { id, email, provider, sent } of put) {
          const name = (isCalm && fleet.mailbox('acme', id)?.email) || email;
          const next = mailbox(id, name, sent === null ? { verdict: null, stats: null } : {});
          const answer = { ...next.entry.answer, provider };
          const of = sent === null ? {} : { verdict: { at: now, answer: verdict({ sent }) } };
          fleet.putMailbox({ ...next, ...of, entry: { ...next.entry, answer } });
        }
        for (const id of isCalm ? [] : leave) fleet.removeMailbox('acme', id);
        const text = await textOfPieces((await blocks.render()).pieces);
        expect(lines(text)).toEqual(lines(await textOfPieces((await blocksOf(fleet).render()).pieces)));
      }
    }),
    { numRuns: 5 },
  );
});
