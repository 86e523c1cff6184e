// The exposition writer against prom-client: the same samples, byte for byte, whatever changes between two scrapes.
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { BlockCache, type Part } from '../../src/metrics/exposition/block-cache.ts';
import {
  crcWith,
  gzipHead,
  gzipTail,
  inflate,
  joined,
  type Piece,
  pieceOf,
} from '../../src/metrics/exposition/piece.ts';
import { type Family, familyLines } from '../../src/metrics/family.ts';

const gauges = {
  size: { name: 'thing_size_bytes', help: 'How big it is, \\ and "so" on\nbytes.' },
  state: { name: 'thing_state', help: 'One series a state.' },
};
type Name = keyof typeof gauges;

interface Thing {
  readonly key: string;
  readonly label: string;
  readonly size: number | null;
  readonly state: string;
}

const sizes: Part<Thing, Name> = {
  series: [{ gauge: 'size', labels: {} }],
  factsOf: ({ size }) => [size],
  valuesOf: ({ size }) => [size],
};
const states: Part<Thing, Name> = {
  series: ['a', 'b'].map((state) => ({ gauge: 'state', labels: { state } })),
  factsOf: ({ state }) => [state],
  valuesOf: ({ state }) => [1, state === 'b' ? 1 : null],
};
/** Both in one. */
const both: Part<Thing, Name> = {
  series: [...sizes.series, ...states.series],
  valuesOf: (one) => [...sizes.valuesOf(one), ...states.valuesOf(one)],
};
const parts = [sizes, states];

function cacheOf(things: Map<string, Thing>, of: readonly Part<Thing, Name>[] = parts): BlockCache<Thing, Name> {
  return new BlockCache<Thing, Name>({
    gauges,
    items: () => things.values(),
    keyOf: ({ key }) => key,
    orderOf: ({ size }) => size ?? 0,
    identityOf: ({ label, key }) => ({ label, key }),
    parts: of,
  });
}

function textOf(pieces: readonly Piece[]): string {
  return inflate(pieces).toString();
}

/** The same by prom-client, without the families that have no sample. */
async function byPromClient(things: Iterable<Thing>): Promise<string> {
  const registry = new Registry();
  const registers = [registry];
  const size = new Gauge({ ...gauges.size, labelNames: ['label', 'key'], registers });
  const state = new Gauge({ ...gauges.state, labelNames: ['label', 'key', 'state'], registers });
  const filled = new Set<string>();
  for (const thing of things) {
    both.valuesOf(thing).forEach((value, index) => {
      const series = both.series[index];
      if (!series || typeof value !== 'number') return;
      (series.gauge === 'size' ? size : state).set({ label: thing.label, key: thing.key, ...series.labels }, value);
      filled.add(gauges[series.gauge].name);
    });
  }
  for (const { name } of Object.values(gauges)) if (!filled.has(name)) registry.removeSingleMetric(name);
  return registry.metrics();
}

const familyText = (...family: Parameters<typeof familyLines>) => [...familyLines(...family)].join('');
const lines = (text: string) => text.split('\n').filter(Boolean).sort();
/** Any letter there is. fast-check's own would first make a table of all of them. */
const unit = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
const label = fc.string({ unit, maxLength: 12 });
const number = fc.double().filter((value) => !Number.isNaN(value));
const thing = fc.record({
  key: fc.integer({ min: 0, max: 150 }).map(String),
  label: fc.oneof(label, fc.constantFrom('"', '\\', '\n', '\\n"', 'пошта@приклад.example')),
  size: fc.option(number),
  state: fc.constantFrom('a', 'b'),
});
/** Between two scrapes: things that are put, things that leave. */
const round = fc.record({
  put: fc.array(thing, { maxLength: 100 }),
  leave: fc.array(fc.integer({ min: 0, max: 150 }).map(String), { maxLength: 100 }),
});

describe('the block cache', () => {
  test('writes what prom-client writes, scrape after scrape', async () => {
    const rounds = fc.array(round, { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const things = new Map<string, Thing>();
        const kept = parts.map((part) => ({ ...part, kept: true }) as const);
        const caches = [cacheOf(things), cacheOf(things, kept), cacheOf(things, [both])];
        const overwritten = cacheOf(things);
        for (const { put, leave } of all) {
          // A label is part of the name: one thing of a key keeps it.
          for (const one of put) things.set(one.key, { ...one, label: things.get(one.key)?.label ?? one.label });
          for (const key of leave) things.delete(key);
          const wanted = lines(await byPromClient(things.values()));
          for (const cache of caches) expect(lines(textOf(await cache.pieces()))).toEqual(wanted);
          expect(lines(textOf(await overwritten.pieces(true)))).toEqual(wanted);
        }
      }),
      { numRuns: 150 },
    );
  });

  test('renders again only what stands beside a change, and nothing when nothing changed', async () => {
    const things = new Map<string, Thing>();
    for (let n = 0; n < 1_000; n += 1) things.set(`${n}`, { key: `${n}`, label: `l${n}`, size: n, state: 'a' });
    const cache = cacheOf(things);
    const first = await cache.pieces();
    const again = (await cache.pieces()).filter((piece) => !textOf([piece]).startsWith('#'));
    expect(again.every((piece) => first.includes(piece))).toBe(true);
    things.set('500', { key: '500', label: 'l500', size: 7, state: 'a' });
    const known = new Set(first);
    const fresh = (await cache.pieces()).filter((piece) => !known.has(piece) && !textOf([piece]).startsWith('#'));
    expect(fresh).toHaveLength(1);
    expect(textOf(fresh)).toContain('thing_size_bytes{label="l500",key="500"} 7\n');
  });

  test('asks for the values of a part only where the facts of it changed, and once where they are kept', async () => {
    const things = new Map<string, Thing>();
    for (let n = 0; n < 516; n += 1) things.set(`${n}`, { key: `${n}`, label: `l${n}`, size: n, state: 'a' });
    const asked: string[] = [];
    const watched = (name: string, { valuesOf, ...rest }: Part<Thing, Name>): Part<Thing, Name> => ({
      ...rest,
      valuesOf: (one) => {
        asked.push(`${name} ${one.key}`);
        return valuesOf(one);
      },
    });
    const changedAt = async (cache: BlockCache<Thing, Name>) => {
      await cache.pieces();
      asked.length = 0;
      things.set('515', { key: '515', label: 'l515', size: (things.get('515')?.size ?? 0) + 1, state: 'a' });
      const after = await cache.pieces();
      expect(lines(textOf(after))).toEqual(lines(await byPromClient(things.values())));
      return asked;
    };
    const beside = ['size 512', 'size 513', 'size 514', 'size 515'];
    const made = cacheOf(things, [watched('size', sizes), watched('state', states)]);
    expect(await changedAt(made)).toEqual(['size 515', 'size 515', ...beside]);
    const kept = cacheOf(things, [
      watched('state', { ...states, kept: true }),
      watched('size', { ...sizes, kept: true }),
    ]);
    expect(await changedAt(kept)).toEqual(['size 515']);
    expect(await changedAt(kept)).toEqual(['size 515']);
  });

  test('renders only the series of a part whose values changed', async () => {
    const things = new Map<string, Thing>();
    for (let n = 0; n < 64; n += 1) things.set(`${n}`, { key: `${n}`, label: `l${n}`, size: n, state: 'a' });
    const cache = cacheOf(things, [both]);
    const known = new Set(await cache.pieces());
    things.set('7', { key: '7', label: 'l7', size: 7, state: 'b' });
    const after = await cache.pieces();
    const fresh = after.filter((piece) => !known.has(piece)).map((piece) => textOf([piece]));
    expect(fresh).toEqual(['thing_state{label="l7",key="7",state="b"} 1\n']);
    expect(lines(textOf(after))).toEqual(lines(await byPromClient(things.values())));
  });

  test('lays its blocks out as things are polled: an order that comes again becomes cheap', async () => {
    const things = new Map<string, Thing>();
    const put = (n: number, size: number) => things.set(`${n}`, { key: `${n}`, label: `l${n}`, size, state: 'a' });
    for (let n = 0; n < 4_096; n += 1) put(n, 0);
    const cache = cacheOf(things);
    await cache.pieces();
    /** Every eighth, beginning with `offset`: all blocks have some of them at first. */
    const poll = async (offset: number, size: number) => {
      for (let n = offset; n < 4_096; n += 8) put(n, size);
      const before = new Set(pieces);
      pieces = await cache.pieces();
      return pieces.filter((piece) => !before.has(piece) && textOf([piece]).startsWith('thing_size')).length;
    };
    let pieces = await cache.pieces();
    const rendered: number[] = [];
    for (let cycle = 1; cycle <= 6; cycle += 1) {
      let blocks = 0;
      for (let offset = 0; offset < 8; offset += 1) blocks += await poll(offset, 8 * cycle + offset);
      rendered.push(blocks);
    }
    expect(rendered[0]).toBeGreaterThan(64);
    expect(rendered[5]).toBe(16);
    expect(lines(textOf(pieces))).toEqual(lines(await byPromClient(things.values())));
  });
});

describe('an order that never comes again', () => {
  test('is laid out ever more rarely', async () => {
    const things = new Map<string, Thing>();
    for (let n = 0; n < 512; n += 1) things.set(`${n}`, { key: `${n}`, label: `l${n}`, size: 0, state: 'a' });
    const cache = cacheOf(things);
    let pieces = await cache.pieces();
    /** The rounds in which the states were rendered again, which never change. */
    const laidOut: number[] = [];
    for (let round = 1; round <= 250; round += 1) {
      // One of each block, whatever the layout: each changes as seldom as any other.
      for (const n of [round % 512, (round * 37 + 256) % 512, (round * 101) % 512])
        things.set(`${n}`, { key: `${n}`, label: `l${n}`, size: round, state: 'a' });
      const before = new Set(pieces);
      pieces = await cache.pieces();
      const fresh = pieces.filter((piece) => !before.has(piece)).map((piece) => textOf([piece]));
      if (fresh.some((text) => text.startsWith('thing_state'))) laidOut.push(round);
    }
    const pauses = laidOut.map((round, index) => round - (laidOut[index - 1] ?? 0));
    const doubling = pauses.slice(0, 4);
    for (const [index, pause] of doubling.entries())
      if (index > 0) expect(pause).toBeGreaterThan(1.4 * (pauses[index - 1] ?? 0));
    // The layout takes an eighth of what the needless rendering takes then.
    for (const pause of pauses.slice(4)) expect(pause).toBeLessThan(1.4 * (pauses[3] ?? 0));
    expect(pauses.length).toBeGreaterThanOrEqual(6);
  });
});

describe('a fleet of many blocks', () => {
  test('is laid out a part at a time, so that no scrape renders all of it again', async () => {
    const things = new Map<string, Thing>();
    const put = (n: number, size: number) => things.set(`${n}`, { key: `${n}`, label: `l${n}`, size, state: 'a' });
    for (let n = 0; n < 30_000; n += 1) put(n, 0);
    const cache = cacheOf(things);
    let pieces = await cache.pieces();
    /** Blocks that were rendered as a whole, by scrape: states never change. */
    const laidOut: number[] = [];
    for (let round = 1; round <= 8; round += 1) {
      for (let n = round % 4; n < 30_000; n += 4) put(n, round);
      const before = new Set(pieces);
      pieces = await cache.pieces();
      const fresh = pieces.filter((piece) => !before.has(piece));
      laidOut.push(fresh.filter((piece) => textOf([piece]).startsWith('thing_state')).length);
    }
    expect(Math.max(...laidOut)).toBe(64);
    expect(laidOut.filter((blocks) => blocks > 0).length).toBeGreaterThanOrEqual(2);
    expect(lines(textOf(pieces))).toEqual(lines(await byPromClient(things.values())));
  });
});

describe('pieces', () => {
  test('take the memory of those from before only when nobody needs them any more', async () => {
    const things = new Map<string, Thing>();
    const put = (size: number) => {
      for (let n = 0; n < 300; n += 1) things.set(`${n}`, { key: `${n}`, label: `l${n}`, size: size + n, state: 'a' });
    };
    const cache = cacheOf(things);
    put(1_000);
    const first = await cache.pieces();
    const text = textOf(first);
    put(2_000);
    const second = await cache.pieces();
    expect([textOf(first) === text, textOf(second) === text]).toEqual([true, false]);
    put(3_000);
    const third = await cache.pieces(true);
    expect(lines(textOf(third))).toEqual(lines(await byPromClient(things.values())));
    const memoryOf = (pieces: readonly Piece[]) => new Set(pieces.map(({ deflated }) => deflated.buffer));
    expect(memoryOf(third)).toEqual(memoryOf(second));
    expect(third.some((piece) => second.includes(piece) === false)).toBe(true);
  });

  test('put one behind the other are one gzip file of their texts', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit, maxLength: 3_000 })), (texts) => {
        const pieces = texts.map((text) => pieceOf(text));
        const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
        const tail = gzipTail(crcWith(0, pieces), bytes);
        const file = Buffer.concat([gzipHead, joined(pieces), tail]);
        expect(gunzipSync(file).equals(Buffer.from(texts.join('')))).toBe(true);
      }),
    );
  });
});

describe('a family', () => {
  const histogram: Family = {
    name: 'took_seconds',
    type: 'histogram',
    help: 'Says "how long".',
    samples: [
      { suffix: '_bucket', labels: { le: 1 }, value: 2 },
      { suffix: '_bucket', labels: { le: '+Inf' }, value: 3 },
      { suffix: '_count', labels: {}, value: 3 },
    ],
  };

  test('is written for each format as that one wants it', () => {
    expect(familyText(histogram, 'text')).toBe(
      '# HELP took_seconds Says "how long".\n# TYPE took_seconds histogram\n' +
        'took_seconds_bucket{le="1"} 2\ntook_seconds_bucket{le="+Inf"} 3\ntook_seconds_count 3\n',
    );
    expect(familyText(histogram, 'openmetrics')).toBe(
      '# HELP took_seconds Says \\"how long\\".\n# TYPE took_seconds histogram\n' +
        'took_seconds_bucket{le="1.0"} 2\ntook_seconds_bucket{le="+Inf"} 3\ntook_seconds_count 3\n',
    );
    const counter: Family = { name: 'a_total', type: 'counter', help: 'All.', samples: [{ labels: {}, value: 1 }] };
    expect(familyText(counter, 'openmetrics')).toBe('# HELP a All.\n# TYPE a counter\na_total 1\n');
  });

  test('without a sample is not there', () => {
    expect(familyText({ ...histogram, samples: [] }, 'text')).toBe('');
  });
});
