// Counts that are left out, that vanish, or that contradict each other. The API is not the simulator: each test writes the days itself.
import { describe, expect, test } from 'vitest';
import { addDays, dayMs, hourMs, type IsoDate, isWeekend, minuteMs, utcDate } from '../../src/core/time.ts';
import type { Duty } from '../account/duty.ts';
import { type DayOf, empty, type Row, rarely, readAgain, usual, watching } from '../support/watching.ts';

/** The rows of seven days, oldest first. */
const weekOf = (today: IsoDate, dayOf: (age: number) => Omit<Row, 'date'>): Row[] =>
  [6, 5, 4, 3, 2, 1, 0].map((age) => ({ date: addDays(today, -age), ...dayOf(age) }));
const names = async (duty: Duty) => [...new Set(await duty.notified())];

describe('days without mail that the API leaves out', () => {
  /** A mailbox that sends on weekdays, on a Sunday. */
  async function onSunday() {
    const at = await watching(['m1'], { poll: rarely });
    const [box] = at.boxes;
    at.tell(box, (_, date) => (isWeekend(date) ? null : usual));
    while (new Date(at.api.now()).getUTCDay() !== 0) await at.duty.run(6 * hourMs);
    return Object.assign(at, { box, friday: addDays(utcDate(at.api.now()), -2) });
  }

  test('a weekend is explained by the weekends before: a breach of Friday is acted on on Monday', async () => {
    await using at = await onSunday();
    const { box, friday } = at;
    // On Monday nothing was sent yet, and Friday's bounces come in.
    await at.duty.run(dayMs);
    at.tell(box, (age, date) =>
      age === 0 || isWeekend(date) ? null : date === friday ? { sent: 40, bounced: 6 } : usual,
    );
    await readAgain(at, box, 2);
    expect(at.api.posts(box).map(({ body }) => body)).toMatchObject([{ config: { warmup_mode: 'recovery' } }]);
    expect(await names(at.duty)).not.toContain('firing stale_data');
  });

  test('a holiday after a weekend is not stale either, and three whole sending days are', async () => {
    await using at = await onSunday();
    const { box, friday } = at;
    at.tell(box, (_, date) => (isWeekend(date) || date > friday ? null : usual));
    const reasonIn = async (days: number) => {
      await at.duty.run(days * dayMs);
      return [new Date(at.api.now()).getUTCDay(), at.reason(box)];
    };
    expect([await reasonIn(1), await reasonIn(1), await reasonIn(1)]).toEqual([
      [1, 'ok'],
      [2, 'ok'],
      [3, 'stale_data'],
    ]);
    expect(at.firing('stale_data', box)).toBeDefined();
  });
});

describe('a counter that breaks', () => {
  test('is told on day 2, and does not resolve because time passes: only mail ends it', async () => {
    await using at = await watching(['m1'], { poll: rarely });
    const [box] = at.boxes;
    await at.duty.run(dayMs);
    const broken = utcDate(at.api.now());
    at.tell(box, (_, date) => (date >= broken ? empty : usual));
    await at.duty.run(4 * dayMs);
    const since = at.firing('stale_data', box)?.firingAt;
    expect(since).toBeDefined();
    for (const days of [11, 10, 12]) {
      await at.duty.run(days * dayMs);
      expect([days, at.firing('stale_data', box)?.firingAt]).toEqual([days, since]);
    }
    expect([at.reason(box), at.state(box)]).toEqual(['missing_counts', 'not_judged']);
    at.tell(box, (age) => (age === 0 ? usual : empty));
    await readAgain(at, box, 2);
    expect([at.duty.firing(), at.state(box)]).toEqual([[], 'ok']);
  }, 240_000);

  test('is told to whoever starts later, with the second answer', async () => {
    await using at = await watching(['m1']);
    const [box] = at.boxes;
    at.tell(box, () => empty);
    await at.duty.until(() => at.reads(box) === 1);
    await at.duty.run(minuteMs);
    expect([at.state(box), at.firing('guard_blind', box)]).toEqual(['not_judged', undefined]);
    await readAgain(at, box, 1);
    expect(at.firing('guard_blind', box)?.facts.sentences[0]).toBe(
      'The warm-up runs, but the API counts no email on any day, so the bounce rate is unknown.',
    );
  });

  test('a mailbox on its first days, or a weekdays-only one after its first weekend, is healthy without an email', async () => {
    // The clock stands on a Tuesday: the fifth day of a warm-up began on Friday, of which nothing was sent.
    for (const warmup of [{ warmup_day: 3 }, { warmup_day: 5, config: { weekdays_only: true } }]) {
      for (const told of [() => empty, () => null]) {
        await using at = await watching(['m1'], { warmup });
        const [box] = at.boxes;
        at.tell(box, told);
        await readAgain(at, box, 3);
        expect([at.state(box), [...at.duty.fleet().alerts()]]).toEqual(['ok', []]);
      }
    }
  });
});

describe('counts that vanish', () => {
  test('of one mailbox: hold, told at the second answer with what was read before, also after a restart; new mail ends it', async () => {
    await using at = await watching(['m1', 'm2', 'm3']);
    const [box, other] = at.boxes;
    at.tell(box, (age) => (age === 3 ? { sent: 40, bounced: 1 } : usual));
    await readAgain(at, box, 2);
    at.tell(box, () => empty);
    await readAgain(at, box, 1);
    expect([at.reason(box), at.state(box), at.duty.firing()]).toEqual(['missing_counts', 'not_judged', []]);
    await readAgain(at, box, 1);
    const said = at.firing('guard_blind', box)?.facts.sentences[0];
    expect(said).toMatch(
      /^The API counted 240 emails from \d+ to \d+ \w+, and now it shows none of them, so the bounces are unknown\.$/,
    );
    expect([at.state(other), at.firing('guard_blind', other)]).toEqual(['ok', undefined]);
    await at.duty.restart();
    await readAgain(at, box, 2);
    expect([at.state(box), at.firing('guard_blind', box)?.facts.sentences[0]]).toEqual(['not_judged', said]);
    await at.duty.run(dayMs);
    at.tell(box, (age) => (age === 0 ? usual : empty));
    await readAgain(at, box, 2);
    expect([at.state(box), at.firing('guard_blind', box)]).toEqual(['ok', undefined]);
  });

  test('of a whole account, also from the start: each mailbox is told, and each ends', async () => {
    for (const isFromStart of [true, false]) {
      await using at = await watching(['m1', 'm2', 'm3', 'm4']);
      if (!isFromStart) await readAgain(at, at.boxes[0], 2);
      at.tellAll(() => null);
      await readAgain(at, at.boxes[0], 4);
      expect(at.boxes.map(at.state)).toEqual(Array(4).fill('not_judged'));
      expect(at.boxes.map((box) => at.firing('guard_blind', box)?.facts.title)).toEqual(
        at.boxes.map(({ email }) => `${email} is NOT GUARDED: its bounces cannot be judged`),
      );
      at.tellAll(() => usual);
      await readAgain(at, at.boxes[0], 4);
      expect(at.duty.firing()).toEqual([]);
    }
  });

  test('half of an account’s emails are missing: hold; half of one mailbox’s are a revision', async () => {
    await using at = await watching(['m1', 'm2', 'm3', 'm4']);
    const [first, second, third] = at.boxes;
    await readAgain(at, first, 2);
    const halved: DayOf = () => ({ sent: 18, bounced: 0 });
    at.tell(first, halved);
    await readAgain(at, first, 3);
    expect([at.reason(first), at.firing('guard_blind', first)]).toEqual(['ok', undefined]);
    for (const box of [second, third]) at.tell(box, () => ({ sent: 2, bounced: 0 }));
    await readAgain(at, third, 3);
    expect([first, second, third].map(at.reason)).toEqual(Array(3).fill('missing_counts'));
    expect(at.firing('guard_blind', second)).toBeDefined();
    at.tell(third, (age) => (age === 0 ? { sent: 20, bounced: 8 } : { sent: 2, bounced: 0 }));
    await readAgain(at, third, 2);
    expect(third.status).toBe('paused');
  });
});

describe('contradictions in a row', () => {
  const each = (day: Omit<Row, 'date'>) => (today: IsoDate) => weekOf(today, () => day);
  const twice = (other: Omit<Row, 'date'>) => (today: IsoDate) => [
    ...each(usual)(today),
    { date: addDays(today, -1), ...other },
  ];

  test.each([
    [
      'a second row of the day',
      twice({ sent: 20, bounced: 12 }),
      /second row of a day it would be 12 bounces in 260 emails/,
    ],
    [
      'the rate',
      each({ sent: 40, bounced: 0, bounce_rate: '9.00' }),
      /by the API's own bounce rates it would be 28 bounces in 280 emails/,
    ],
    ['what was delivered', each({ sent: 40, bounced: 0, delivered: 36 }), /20 bounces in 280 emails/],
  ] as const)('%s would be a breach that the counts deny: hold, told with both readings', async (_, rows, said) => {
    await using at = await watching(['m1']);
    const [box] = at.boxes;
    at.tell(box, rows(utcDate(at.api.now())));
    await at.duty.until(() => at.reads(box) === 1);
    await at.duty.run(minuteMs);
    expect([at.state(box), at.firing('guard_blind', box)]).toEqual(['not_judged', undefined]);
    await readAgain(at, box, 1);
    const [sentence = ''] = at.firing('guard_blind', box)?.facts.sentences ?? [];
    expect(sentence).toMatch(said);
    expect(sentence).toMatch(/^No bounces in 280 emails/);
    expect(at.api.posts()).toEqual([]);
  });
});

test('rows dated two days ahead count once the API’s own clock is as far ahead', async () => {
  await using at = await watching(['m1']);
  const [box] = at.boxes;
  at.duty.behind.ms = 2 * dayMs;
  at.tell(
    box,
    weekOf(utcDate(at.api.now()), (age) => ({ sent: 40, bounced: age === 0 ? 20 : 0 })),
  );
  await readAgain(at, box, 3);
  expect(box.status).toBe('paused');
});
