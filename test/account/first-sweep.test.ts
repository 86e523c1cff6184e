// How far a first sweep is: shown, and said in the log once a minute with its end, but not of a fleet that is read at once. The end that is
// shown at its beginning is kept.
import { expect, test } from 'vitest';
import { FirstSweep } from '../../src/account/first-sweep.ts';
import { absentWarmup } from '../../src/api/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { firstSight } from '../../src/core/guard/memory.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import { sweepText } from '../../src/core/wording/forecast.ts';
import { logTo } from '../../src/world/world.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { sampleMailbox, start } from '../alerts/samples.ts';
import { OtherApi } from '../support/other-api.ts';
import { goOnDuty } from './duty.ts';

interface Line {
  readonly msg: string;
  readonly read?: number;
  readonly polls_left?: number;
  readonly done_at?: string;
}

/** A first sweep of as many mailboxes, with a budget of 30 requests a minute for them. */
async function sweepOf(count: number) {
  const lines: Line[] = [];
  const clock = movedClock(start);
  const fleet = new Fleet();
  const log = logTo((line) => void lines.push(JSON.parse(line)), { level: 'info', format: 'json' }, clock);
  const world = { clock, random: () => 0.5, log };
  let overs = 0;
  const over = () => {
    overs += 1;
  };
  const sweep = new FirstSweep({ account: 'acme', fleet, world, perMinute: () => 30, over });
  const mailboxes = Array.from({ length: count }, (_, number) =>
    sampleMailbox({ id: `m${number}`, account: 'acme', memory: null, detail: null, dns: null, blacklist: null }),
  );
  for (const mailbox of mailboxes) fleet.putMailbox(mailbox);
  sweep.begin(mailboxes);
  /** Answers of a kind come in for these mailboxes, one every two seconds. */
  const read = async (
    routes: readonly ('warmup' | 'stats' | 'mailbox' | 'dns' | 'blacklist')[],
    from = 0,
    to = count,
  ) => {
    for (const mailbox of mailboxes.slice(from, to)) {
      const { id } = mailbox;
      fleet.putMailbox({ ...mailbox, warmup: { at: clock.now(), answer: absentWarmup } });
      for (const route of routes) {
        await clock.advance(2 * secondMs);
        sweep.asked({ route, mailboxId: id });
      }
      sweep.show();
    }
  };
  const text = () => {
    const progress = fleet.sweep('acme');
    return progress && sweepText(progress, { now: clock.now(), zone: 'UTC' });
  };
  return { sweep, clock, fleet, lines, mailboxes, read, text, overs: () => overs };
}

test('a long first sweep says each minute how many mailboxes are read, and when it will be done', async () => {
  const at = await sweepOf(100);
  expect(at.text()).toBe('First sweep of acme: 0 of 100 mailboxes read, done in about 7 min (10:08 UTC)');
  await at.read(['warmup', 'stats'], 0, 50);
  expect(at.text()).toBe('First sweep of acme: 50 of 100 mailboxes read, done in about 3 min (10:08 UTC)');
  expect(at.lines.map(({ msg, read, polls_left: left }) => [msg.slice(0, 19), read, left])).toEqual([
    ['First sweep of acme', 0, 200],
    ['First sweep of acme', 15, 170],
    ['First sweep of acme', 30, 140],
    ['First sweep of acme', 45, 110],
  ]);
});

test('connection, DNS and blacklists are waited for a little, so that a small fleet has one message', async () => {
  const at = await sweepOf(10);
  expect(at.lines).toEqual([]);
  await at.read(['warmup', 'stats']);
  expect([at.overs(), at.fleet.sweep('acme')]).toMatchObject([0, { read: 10 }]);
  await at.read(['mailbox', 'dns', 'blacklist']);
  expect([at.overs(), at.fleet.sweep('acme'), at.lines.at(-1)?.msg]).toEqual([1, undefined, 'first sweep done']);
});

test('mailboxes that were asked about in vain do not count as read', async () => {
  const at = await sweepOf(3);
  for (const route of ['warmup', 'stats'] as const) at.sweep.asked({ route, mailboxId: 'm0' });
  await at.read(['warmup', 'stats'], 1);
  expect(at.text()).toMatch(/^First sweep of acme: 2 of 3 mailboxes read, done/);
  for (const route of ['mailbox', 'dns', 'blacklist'] as const) at.sweep.asked({ route, mailboxId: 'm0' });
  await at.read(['mailbox', 'dns', 'blacklist'], 1);
  expect(at.lines.at(-1)).toMatchObject({ msg: 'first sweep done', mailboxes: 3, read: 2 });
});

test('what is never asked, and never settled, holds the end up for five minutes at most', async () => {
  const at = await sweepOf(10);
  await at.read(['warmup', 'stats']);
  await at.read(['mailbox', 'dns', 'blacklist'], 0, 9);
  expect(at.overs()).toBe(0);
  await at.clock.advance(6 * minuteMs);
  at.sweep.show();
  expect([at.overs(), at.fleet.sweep('acme')]).toEqual([1, undefined]);
});

test('who arrives meanwhile is read with the rest, who leaves is not waited for, and who was judged before is known', async () => {
  const at = await sweepOf(2);
  const [first, second] = at.mailboxes;
  if (!first || !second) throw new Error('no mailboxes');
  const memory = { ...firstSight(defaultPolicy, { mode: 'balanced', run: 'running', rows: [], now: start }) };
  const known = sampleMailbox({ id: 'known', account: 'acme', memory });
  const late = { ...second, id: 'late' };
  for (const mailbox of [late, known]) at.fleet.putMailbox(mailbox);
  at.sweep.join([late, known]);
  expect(at.sweep.isFirstLook('known', 'stats')).toBe(false);
  expect(at.sweep.isFirstLook('late', 'stats')).toBe(true);
  at.sweep.leave(first);
  at.fleet.removeMailbox('acme', first.id);
  at.sweep.show();
  expect(at.fleet.sweep('acme')).toMatchObject({ mailboxes: 3, read: 1 });
});

test.each([
  { mailboxes: 40, limit: 100 },
  { mailboxes: 120, limit: 100 },
])(
  '$mailboxes mailboxes on $limit requests a minute: the first end that is shown is kept, and later ones are near it',
  async ({ mailboxes, limit }) => {
    await using api = await OtherApi.start(mailboxes);
    const shipped = { requestsPerMinute: limit, headroomPpm: 30_000, statsIntervalMinMs: minuteMs };
    await using duty = await goOnDuty({ other: api, keyLimit: limit, ...shipped });
    const sweep = () => duty.fleet().sweep('agency');
    await duty.until(() => sweep() !== undefined, minuteMs);
    const begun = duty.clock.now();
    const shown: number[] = [];
    for (; (sweep()?.read ?? mailboxes) < mailboxes; await duty.run(5 * secondMs)) shown.push(sweep()?.doneAt ?? 0);
    const [tookMs, promisedMs] = [duty.clock.now() - begun, (shown[0] ?? 0) - begun];
    expect(tookMs - promisedMs).toBeLessThan(20 * secondMs);
    expect(Math.max(...shown) - Math.min(...shown)).toBeLessThan(Math.max(minuteMs, tookMs / 3));
    // What the cadence makes due meanwhile is counted on average: nothing was due here.
    expect(tookMs).toBeGreaterThan(0.75 * promisedMs);
  },
);
