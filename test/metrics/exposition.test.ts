// The exposition writer against prom-client: the same samples, byte for byte, whatever changes between two scrapes.
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { type Family, familyText } from '../../src/metrics/exposition.ts';
import { MailboxBlocks } from '../../src/metrics/mailbox-blocks.ts';
import { infoGauge, infoLabels, mailboxGauges, mailboxValues } from '../../src/metrics/mailbox-series.ts';
import { answerOf, type Piece, pieceOf } from '../../src/metrics/scrape-answer.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { mailbox, now, verdict } from '../web/example-fleet.ts';
import { metricsSettings } from '../web/running-server.ts';

const blocksOf = (fleet: Fleet) => new MailboxBlocks(fleet, movedClock(now), metricsSettings);
const bytesOf = async (pieces: readonly Piece[], encoding?: string) =>
  Buffer.from(await new Response(answerOf(pieces, 'text', encoding).body()).arrayBuffer());
const textOf = async (pieces: readonly Piece[]) => (await bytesOf(pieces)).toString();
const lines = (text: string) => text.split('\n').filter(Boolean).sort();

/** The same by prom-client, without the families that have no sample. */
async function byPromClient(fleet: Fleet): Promise<string> {
  const registry = new Registry();
  const names = [
    'account',
    'mailbox',
    'mailbox_id',
    'domain',
    'provider',
    'status',
    'mode',
    'state',
    'record',
    'route',
  ];
  const series = mailboxGauges.flatMap((one) => {
    const gauge = new Gauge({ name: one.name, help: one.help, labelNames: names, registers: [registry] });
    return one.series.map(({ labels }) => ({ gauge, name: one.name, labels, isInfo: one === infoGauge }));
  });
  const filled = new Set<string>();
  for (const one of fleet.mailboxes()) {
    for (const [index, value] of mailboxValues(one, 'ok', now).entries()) {
      const of = series[index];
      if (!of || Number.isNaN(value)) continue;
      const own = of.isInfo ? infoLabels(one) : of.labels;
      of.gauge.set({ account: one.account, mailbox: fleet.nameOf(one), ...own } as Record<string, string>, value);
      filled.add(of.name);
    }
  }
  for (const { name } of mailboxGauges) if (!filled.has(name)) registry.removeSingleMetric(name);
  return registry.metrics();
}

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
const round = fc.record({ put: fc.array(change, { maxLength: 60 }), leave: fc.array(ids, { maxLength: 60 }) });

test('the blocks of mailboxes have what prom-client writes, scrape after scrape', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 3 }), async (rounds) => {
      const fleet = new Fleet();
      for (let n = 0; n < 300; n += 1) fleet.putMailbox(mailbox(`m${n}`, `box${n}@acme.example`));
      const blocks = blocksOf(fleet);
      for (const { put, leave } of rounds) {
        for (const { id, email, provider, sent } of put) {
          const next = mailbox(id, email, sent === null ? { verdict: null, stats: null } : {});
          const answer = { ...next.entry.answer, provider };
          const of = sent === null ? {} : { verdict: { at: now, answer: verdict({ sent }) } };
          fleet.putMailbox({ ...next, ...of, entry: { ...next.entry, answer } });
        }
        for (const id of leave) fleet.removeMailbox('acme', id);
        const text = await textOf(await blocks.pieces());
        const isState = (line: string) => line.startsWith('warmwarden_guard_state{');
        const wanted = lines(await byPromClient(fleet));
        expect(lines(text).filter((line) => !isState(line))).toEqual(wanted.filter((line) => !isState(line)));
      }
    }),
    { numRuns: 5 },
  );
});

test('pieces, one behind the other, are one gzip file of their texts', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit, maxLength: 3_000 })), async (texts) => {
      const pieces = texts.map((text) => pieceOf(text));
      const whole = Buffer.from(texts.join(''));
      expect(gunzipSync(await bytesOf(pieces, 'gzip')).equals(whole)).toBe(true);
      expect((await bytesOf(pieces)).equals(whole)).toBe(true);
    }),
  );
});

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

test('a family is written for each format as that one wants it', () => {
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
