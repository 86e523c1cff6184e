// What others changed between two looks at a mailbox, and what of it ends a claim.
import { describe, expect, test } from 'vitest';
import { changesIn } from '../../src/account/record/outside-changes.ts';
import type { DnsAnswer, WarmupAnswer } from '../../src/core/answers.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { sampleAction, sampleMailbox, start } from '../alerts/samples.ts';
import { warmupAnswer as warmup } from '../guard/samples.ts';

const later = start + hourMs;

const known = (change: Partial<MailboxState> = {}) =>
  sampleMailbox({ warmup: { at: start, answer: warmup('balanced', 'active', 40) }, ...change });
const look = (answer: WarmupAnswer, mailbox = known(), at = later) =>
  changesIn(mailbox, { route: 'warmup', observed: { at, answer } });

describe('a change of the warm-up', () => {
  test('is told with what it was, what it is, and the two looks it lies between', () => {
    expect(look(warmup('slow', 'active', 60))).toEqual([
      { since: start, at: later, what: 'mode', from: 'balanced', to: 'slow' },
      { since: start, at: later, what: 'target_daily_limit', from: '40', to: '60' },
    ]);
  });

  test('is not made of what could not be read, nor of the first look', () => {
    expect(look(warmup(null, null, null))).toEqual([]);
    expect(look(warmup('slow', 'paused', 1), known({ warmup: null }))).toEqual([]);
  });

  test('of the limit within a day of a mode that Warmwarden set is taken for its effect, later not', () => {
    const switched = known({ action: sampleAction({ settledAt: start }) });
    const lowered = warmup('balanced', 'active', 15);
    expect(look(lowered, switched)).toEqual([]);
    expect(look(lowered, switched, start + dayMs + 1).map(({ what }) => what)).toEqual(['target_daily_limit']);
  });

  test('of the limit is the effect of a recovery of ours also after another action came on top of it', () => {
    const recovery = { kind: 'recovery', actionId: 'a', since: start, previousMode: 'balanced', under: null } as const;
    const pause = { ...recovery, kind: 'pause', actionId: 'b', since: start + hourMs, under: recovery } as const;
    const nothing = { evidence: null, emergencyEvidence: null, interventions: [], pauseWord: null, reversals: [] };
    const memory = { firstSeenAt: 0, answersJudged: 2, mode: 'recovery', run: 'running', ...nothing } as const;
    const dropped = sampleAction({ state: 'dropped', targetMode: null });
    for (const claim of [recovery, pause]) {
      const mailbox = known({ action: dropped, memory: { ...memory, claim } });
      expect(look(warmup('balanced', 'active', 15), mailbox)).toEqual([]);
    }
  });
});

test('a DNS record that stops passing or has another text is a change; an inconclusive look is none', () => {
  const dns = (spf: DnsAnswer['records']['spf']): DnsAnswer => {
    const fine = { status: 'pass', pass: true, record: null };
    return { domain: 'acme.example', checkedAt: null, records: { spf, dkim: fine, dmarc: fine } };
  };
  const before = known({ dns: { at: start, answer: dns({ status: 'pass', pass: true, record: 'v=spf1 a -all' }) } });
  const notified = (spf: DnsAnswer['records']['spf']) =>
    changesIn(before, { route: 'dns', observed: { at: later, answer: dns(spf) } }).map(
      ({ what, from, to }) => `${what}: ${from} to ${to}`,
    );
  expect(notified({ status: 'fail', pass: false, record: null })).toEqual([
    'spf: pass to fail',
    'spf_record: v=spf1 a -all to null',
  ]);
  expect(notified({ status: 'temperror', pass: null, record: null })).toEqual([]);
});
