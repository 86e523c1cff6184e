// guard_held: one message for the whole API, with what a person needs to decide on a release.
import { describe, expect, test } from 'vitest';
import { step } from '../../../src/alerts/engine.ts';
import { guardHeld } from '../../../src/alerts/rules/breaker-rule.ts';
import type { Alert } from '../../../src/core/alert.ts';
import { type BreakerEntry, type BreakerState, closedBreaker } from '../../../src/core/guard/breaker.ts';
import { hourMs } from '../../../src/core/time.ts';
import { sampleVerdict, start } from '../samples.ts';

const about = {
  api: 'https://api.example',
  alert: undefined,
  windowMs: hourMs,
  now: start,
  command: 'warmwarden',
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

describe('an open breaker', () => {
  test('fires at once, for the API and not for a mailbox, with the counts', () => {
    const condition = guardHeld(open(54), about);
    expect(condition).toMatchObject({
      subject: { rule: 'guard_held', account: '', mailboxId: null, email: null, object: 'https://api.example' },
      severity: 'critical',
      active: true,
      forMs: 0,
      since: start,
    });
    expect(condition.facts.numbers).toMatchObject({ held: 54, domains: 3 });
    expect(condition.facts.title).toContain('54 mailboxes held');
  });

  test('names the ten worst with their accounts, and says how many more there are', () => {
    const named = guardHeld(open(54), about).facts.sentences.find((text) => text.startsWith('NO ACTION TAKEN'));
    expect(named).toContain('m53@c.example (acme), m52@b.example (acme)');
    expect(named).toContain('and 44 more');
    expect(named).not.toContain('m43@');
    expect(guardHeld(open(10), about).facts.sentences.join(' ')).not.toContain('more.');
  });

  test('counts what is held only, not what was acted on before', () => {
    const entries = [entry(1, { held: false }), entry(2), entry(3)];
    expect(guardHeld(open(0, { entries }), about).facts.numbers).toMatchObject({ held: 2, domains: 2 });
  });

  test('the sentence counts all that breached, what was acted on and what is held', () => {
    const said = (entries: readonly BreakerEntry[]) => guardHeld(open(0, { entries }), about).facts.sentences[0];
    const acted = [1, 2, 4].map((number) => entry(number, { held: false }));
    expect(said([...acted, entry(3)])).toContain(
      '4 mailboxes on 3 domains have exceeded their bounce limits at the same time: 3 were acted on, 1 is held.',
    );
    expect(said([entry(1, { held: false }), entry(2), entry(3)])).toContain(': 1 was acted on, 2 are held.');
    expect(said([entry(1)])).toContain(
      '1 mailbox on 1 domain has exceeded its bounce limit: none was acted on, 1 is held.',
    );
  });

  test('says from when Warmwarden acts, in the zone of the messages, and how to prevent it', () => {
    const sentences = (state: BreakerState) => guardHeld(state, { ...about, zone: 'Europe/Berlin' }).facts.sentences;
    const said = sentences(open(7)).join(' ');
    expect(said).toContain('From 20 March 12:02 Europe/Berlin, Warmwarden acts on the worst mailboxes first');
    expect(said).toContain(
      'prevent the actions: `warmwarden writes off --account acme --reason "wrong data"`. Warmwarden then changes nothing',
    );
    expect(said).not.toMatch(/do nothing|need not/);
    expect(guardHeld(open(7), about).facts.numbers).toMatchObject({ acts_from: '2026-03-20T11:02:00.000Z' });
  });

  test('of mailboxes seen for the first time, says that Warmwarden waits for a release, and needs no stop', () => {
    const { sentences, numbers } = guardHeld(open(7, { atFirstSight: true }), about).facts;
    expect(sentences.join(' ')).toContain('it does not act until you release');
    expect(sentences.join(' ')).toContain('If the data is wrong, you need not do anything.');
    expect(sentences.join(' ')).not.toMatch(/From 20 March|writes off/);
    expect(numbers).not.toHaveProperty('acts_from');
  });

  test('offers a stop for each of up to three accounts, and one for all beyond', () => {
    const stops = (accounts: readonly string[]) => {
      const entries = accounts.map((account, number) => entry(number, { account }));
      return guardHeld(open(0, { entries }), about)
        .facts.sentences.at(-1)
        ?.match(/writes off[^"]*/g);
    };
    expect(stops(['beta', 'acme'])).toEqual([
      'writes off --account acme --reason ',
      'writes off --account beta --reason ',
    ]);
    expect(stops(['a', 'b', 'c', 'd'])).toEqual(['writes off --reason ']);
  });

  test('gives the counts of each named mailbox that has any, and the command that pauses the worst alone', () => {
    const counts = new Map([
      ['acme/1', sampleVerdict({ sent: 162, bounced: 11, limitPpm: 20_000 })],
      ['acme/2', sampleVerdict({ emergency: { sent: 26, bounced: 8, from: '2026-03-19' } })],
    ]);
    const entries = [entry(0), entry(1), entry(2, { emergency: true })];
    const verdictOf = ({ key }: BreakerEntry) => counts.get(key);
    const said = guardHeld(open(0, { entries }), { ...about, verdictOf }).facts.sentences.join(' ');
    expect(said).toContain(
      'on: m2@c.example (acme, emergency, 8 bounces in 26 emails: 30.77 %), m1@b.example (acme, 11 bounces in 162 emails: 6.79 %), m0@a.example (acme).',
    );
    expect(said).toContain('now, for example: `warmwarden pause acme/m2@c.example`.');
  });

  test('is called by its accounts and the host of the API', () => {
    const entries = [entry(1), entry(2, { account: 'beta' }), entry(3, { account: 'gone', held: false })];
    const { facts } = guardHeld(open(0, { entries }), about);
    expect(facts.title).toBe('acme and beta (api.example): 2 mailboxes held, because too many breached at once');
    expect(facts.accounts).toEqual(['acme', 'beta']);
    expect(facts.numbers).toMatchObject({
      accounts: 'acme, beta',
      api: 'https://api.example',
    });
    const many = ['a', 'b', 'c', 'd', 'e'].map((account, number) => entry(number, { account }));
    expect(guardHeld(open(0, { entries: many }), about).facts.title).toContain('a, b, c and 2 more (api.example): 5');
  });

  test('is the same alert whatever it holds', () => {
    expect(guardHeld(open(7), about).subject).toEqual(guardHeld(closedBreaker, about).subject);
  });
});

describe('a breaker that comes to hold more', () => {
  /** The kinds of what people are notified of while so many are held, one count after the other. */
  function kindsWhile(counts: readonly number[], from?: Alert): readonly string[] {
    let alert = from;
    return counts.flatMap((count) => {
      const { changed, transitions } = step([guardHeld(open(count), { ...about, alert })], () => alert, start);
      alert = changed.at(-1) ?? alert;
      return transitions.map(({ kind, alert: { facts } }) => `${kind} ${facts.numbers['held']}`);
    });
  }

  test('is announced each time the number has doubled, and not in between', () => {
    const counts = Array.from({ length: 40 }, (_, number) => number + 1);
    const worse = [2, 4, 8, 16, 32].map((count) => `worsened ${count}`);
    expect(kindsWhile(counts)).toEqual(['firing 1', ...worse]);
    expect(kindsWhile([3, 20, 21])).toEqual(['firing 3', 'worsened 20']);
  });

  test('is not announced again for what it held before already', () => {
    expect(kindsWhile([3, 4, 3, 4, 1, 2, 5, 8])).toEqual(['firing 3', 'worsened 4', 'worsened 8']);
  });
});

describe('emergencies that a breaker holds', () => {
  const alertOf = (state: BreakerState, alert?: Alert) =>
    step([guardHeld(state, { ...about, alert })], () => alert, start);
  const holding = (count: number, emergencies: number, soFar = emergencies) =>
    open(0, {
      entries: Array.from({ length: count }, (_, n) => entry(n, n < emergencies ? { emergency: true } : {})),
      emergencies: soFar,
    });

  test('are counted in the title, and named before what is worse by its rate', () => {
    const { facts } = guardHeld(holding(12, 2), about);
    expect(facts.title).toContain('12 mailboxes held, 2 of them in an emergency, because');
    expect(facts.sentences.join(' ')).toContain(
      'The 2 mailboxes in an emergency wait like the others. When Warmwarden acts, it pauses the warm-up there.',
    );
    expect(guardHeld(holding(2, 0), about).facts.sentences.join(' ')).not.toContain('emergency');
    expect(facts.sentences.find((text) => text.startsWith('NO ACTION TAKEN'))).toContain(
      'on: m1@b.example (acme, emergency), m0@a.example (acme, emergency), m11@c.example (acme), ',
    );
  });

  test('are each announced, the first at once, also where the number has not doubled or another one is gone', () => {
    let alert: Alert | undefined;
    const told = [holding(5, 0), holding(6, 1), holding(7, 2), holding(7, 2), holding(6, 1, 2), holding(6, 2, 3)].map(
      (state) => {
        const { changed, transitions } = alertOf(state, alert);
        alert = changed.at(-1) ?? alert;
        return transitions.map(({ kind, urgent }) => `${kind}${urgent ? ' at once' : ''}`).join();
      },
    );
    expect(told).toEqual(['firing', 'worsened at once', 'worsened', '', '', 'worsened']);
  });

  test('make a beginning urgent', () => {
    expect(alertOf(holding(5, 1)).transitions).toMatchObject([{ kind: 'firing', urgent: true }]);
    expect(alertOf(holding(5, 0)).transitions[0]).not.toHaveProperty('urgent');
  });
});

test('a closed breaker ends the alert', () => {
  const condition = guardHeld(closedBreaker, about);
  expect(condition.active).toBe(false);
  expect(condition.facts.title).toBe('api.example: the circuit breaker is closed again');
  const [{ alert } = { alert: undefined }] = step([guardHeld(open(2), about)], () => undefined, start).transitions;
  expect(guardHeld(closedBreaker, { ...about, alert }).facts.title).toBe(
    'acme (api.example): the circuit breaker is closed again',
  );
});
