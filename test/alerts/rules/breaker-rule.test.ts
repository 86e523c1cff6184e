// guard_held: one message for the whole API, with what a person needs to decide.
import { describe, expect, test } from 'vitest';
import { guardHeld } from '../../../src/alerts/rules/breaker-rule.ts';
import { type BreakerEntry, type BreakerState, closedBreaker } from '../../../src/core/guard/breaker.ts';
import { hourMs } from '../../../src/core/time.ts';
import { alertBook, start } from '../samples.ts';

const about = {
  api: 'https://api.example',
  alert: undefined,
  windowMs: hourMs,
  now: start,
  zone: 'UTC',
  verdictOf: () => undefined,
};

function entry(number: number, change: Partial<BreakerEntry> = {}): BreakerEntry {
  const domain = ['a.example', 'b.example', 'c.example'][number % 3] ?? '';
  const email = `m${number}@${domain}`;
  const seen = { at: start, held: true, weight: number, firstSight: false };
  return { key: `acme/${number}`, account: 'acme', email, domain, ...seen, ...change };
}

function open(count: number, change: Partial<BreakerState> = {}): BreakerState {
  return { ...closedBreaker, openSince: start, entries: Array.from({ length: count }, (_, n) => entry(n)), ...change };
}

const of = (entries: readonly BreakerEntry[], change = {}) =>
  guardHeld(open(0, { entries }), { ...about, ...change }).facts;
const said = (...given: Parameters<typeof of>) => of(...given).sentences.join(' ');
const acted = (number: number) => entry(number, { held: false });

describe('an open breaker', () => {
  test('fires at once, for the API and not for a mailbox, and names the five worst, in the zone of the messages', () => {
    const condition = guardHeld(open(54), { ...about, zone: 'Europe/Berlin' });
    const subject = { rule: 'guard_held', account: '', mailboxId: null, email: null, object: 'https://api.example' };
    expect(condition).toMatchObject({ subject, severity: 'critical', active: true, forMs: 0, since: start });
    expect(guardHeld(closedBreaker, about).subject).toEqual(subject);
    expect(condition.facts.numbers).toMatchObject({ held: 54, domains: 3 });
    expect(condition.facts.title).toContain('NO ACTION on 54 mailboxes: decide by 20 March 12:02 Europe/Berlin');
    const named = condition.facts.sentences.find((text) => text.startsWith('Held: '));
    expect(named).toContain('m53@c.example, m52@b.example');
    expect(named).toContain('and 49 more');
    expect(named).not.toContain('m48@');
  });

  test('names the command that undoes what was done before, if anything was', () => {
    expect(said([entry(1), acted(2)])).toContain('`warmwarden undo --since 2h`');
    expect(said([entry(1), entry(2)])).not.toContain('undo');
  });

  test.each([
    [[acted(1), acted(2), acted(4), entry(3)], '4 mailboxes on 3 domains', 'acted on 3', 1],
    [[acted(1), entry(2), entry(3)], '3 mailboxes on 3 domains', 'acted on 1', 2],
    [[entry(1)], '1 mailbox on 1 domain', 'acted on none', 1],
  ])('counts all that breached, what was acted on and what is held: %#', (entries, all, split, held) => {
    expect(said(entries)).toMatch(new RegExp(`^${all} .*${split} .*held ${held} since`));
    expect(of(entries).numbers).toMatchObject({ held });
  });

  test('is called by its accounts and the host of the API', () => {
    const facts = of([entry(1), entry(2, { account: 'beta' }), entry(3, { account: 'gone', held: false })]);
    expect(facts.title).toBe('acme and beta (api.example): NO ACTION on 2 mailboxes: decide by 20 March 11:02 UTC');
    expect(facts.accounts).toEqual(['acme', 'beta']);
    expect(facts.numbers).toMatchObject({ accounts: 'acme, beta', api: 'https://api.example' });
    const many = ['a', 'b', 'c', 'd', 'e'].map((account, number) => entry(number, { account }));
    expect(of(many).title).toContain('a, b, c and 2 more (api.example): NO ACTION on 5');
  });
});

/** The kinds of what people are notified of while so many are held, one count after the other. */
function kindsWhile(counts: readonly number[]): readonly string[] {
  const book = alertBook();
  for (const count of counts) book.see([guardHeld(open(count), { ...about, alert: book.only() })]);
  return book.notified.map(({ kind, alert }) => `${kind} ${alert.facts.numbers['held']}`);
}

test.each([
  [Array.from({ length: 40 }, (_, number) => number + 1), [1, 2, 4, 8, 16, 32]],
  [
    [3, 20, 21],
    [3, 20],
  ],
  [
    [3, 4, 3, 4, 1, 2, 5, 8],
    [3, 4, 8],
  ],
])(
  'a breaker that holds more is announced each time the number has doubled, and not for what it held before: %#',
  (counts, told) => {
    const [first, ...worse] = told;
    expect(kindsWhile(counts)).toEqual([`firing ${first}`, ...worse.map((count) => `worsened ${count}`)]);
  },
);

describe('emergencies that a breaker holds', () => {
  const holding = (count: number, emergencies: number, soFar = emergencies) =>
    open(0, {
      entries: Array.from({ length: count }, (_, n) => entry(n, n < emergencies ? { emergency: true } : {})),
      emergencies: soFar,
    });

  test('are each announced, the first at once, also where the number has not doubled or another one is gone', () => {
    const book = alertBook();
    const see = (state: BreakerState) => book.see([guardHeld(state, { ...about, alert: book.only() })]).transitions;
    const told = [holding(5, 0), holding(6, 1), holding(7, 2), holding(7, 2), holding(6, 1, 2), holding(6, 2, 3)].map(
      (state) =>
        see(state)
          .map(({ kind, urgent }) => `${kind}${urgent ? ' at once' : ''}`)
          .join(),
    );
    expect(told).toEqual(['firing', 'worsened at once', 'worsened', '', '', 'worsened']);
    expect(alertBook().see([guardHeld(holding(5, 1), about)]).transitions).toMatchObject([
      { kind: 'firing', urgent: true },
    ]);
  });
});
