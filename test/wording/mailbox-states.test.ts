// Why a paused mailbox is paused: by whom, since when, and on what evidence. What recent emails show besides bounces.
import { expect, test } from 'vitest';
import { readWarmup } from '../../src/api/answers.ts';
import { dayMs, hourMs } from '../../src/core/time.ts';
import { recentEmailSentences } from '../../src/core/wording/phrases.ts';
import { holdOf, pausedBy, pausedText } from '../../src/core/wording/states.ts';
import { action, mailbox, now, verdict } from '../web/example-fleet.ts';

const box = mailbox('m1', 'a@acme.example');
const pausedAt = now - 5 * hourMs;
const counts = { sent: 52, bounced: 16, from: '2026-03-11' };
const pause = action('a1', box, {
  kind: 'pause',
  openedAt: pausedAt,
  verdict: verdict({ action: 'pause', reason: 'emergency', emergency: counts }),
});
const claim = { kind: 'pause' as const, actionId: 'a1', since: pausedAt, previousMode: null, under: null };
const byAnn = action('a2', box, { kind: 'pause', by: { name: 'ann', reason: 'a bad list' }, openedAt: now - hourMs });
const outside = (at: number) => ({ what: 'warm-up' as const, from: 'active', to: 'paused', since: at - hourMs, at });

const ours = 'Warmwarden paused the warm-up on 11 March 22:12 UTC.';
const resumed = action('a3', box, { kind: 'resume', by: { name: 'ann', reason: '' }, plannedAt: now });
const refused = action('a4', box, { kind: 'pause', by: { name: 'bob', reason: '' }, state: 'refused' });
const unknown = 'Somebody else paused the warm-up. Warmwarden does not know when.';

test.each([
  ['us, with the counts', claim, [pause], [], `${ours} 16 bounces in 52 emails since 11 March: 30.77%.`],
  ['us, without a record', claim, [], [], ours],
  [
    'a person through Warmwarden',
    null,
    [byAnn, pause],
    [outside(now - dayMs)],
    'ann paused the warm-up through Warmwarden on 12 March 02:12 UTC. Reason: a bad list.',
  ],
  [
    'another tool, between two looks',
    null,
    [byAnn],
    [outside(now)],
    'Somebody else paused the warm-up between 12 March 02:12 and 03:12 UTC, not through Warmwarden.',
  ],
  ['whom no record shows', null, [], [], unknown],
  ['whom no record shows, after a refused pause', null, [refused], [], unknown],
  ['whom no record shows, after a resume', null, [resumed], [], unknown],
  ['whom no record shows, after a pause of ours', null, [pause], [], unknown],
])('a mailbox that was paused by %s', (_, by, actions, changes, text) => {
  expect(pausedText({ claim: by, actions, changes }, 'UTC')).toBe(text);
});

test('is said to be paused by a person while nobody else changed it since', () => {
  expect(pausedBy({ actions: [byAnn, pause], changes: [outside(now - dayMs)] })).toEqual(byAnn.by);
  expect(pausedBy({ actions: [byAnn], changes: [outside(now)] })).toBeNull();
  expect(pausedBy({ actions: [], changes: [] })).toBeNull();
});

const ago = (hours: number) => new Date(now - hours * hourMs).toISOString();
const sent = (hours: number, landed: string | null) => ({
  status: 'sent',
  landed_in: landed,
  scheduled_at: ago(hours),
  sent_at: ago(hours),
});
const waits = (hours: number, status = 'scheduled') => ({
  status,
  landed_in: null,
  scheduled_at: ago(hours),
  sent_at: null,
});

function said(emails: unknown): readonly string[] {
  const answer = readWarmup({ status: 'active', warmup_mode: 'slow', recent_emails: emails });
  return recentEmailSentences(answer && { at: now, answer }, 'UTC');
}

test.each([
  ['nothing to see', [sent(1, 'inbox'), waits(-1)], []],
  [
    'spam',
    [sent(1, 'inbox'), sent(2, 'Spam'), sent(3, 'junk_folder'), sent(4, null), sent(5, 'none')],
    ['Of the last 3 emails whose folder is known, 2 landed in spam.'],
  ],
  [
    'a queue that stands still',
    [sent(9, 'inbox'), waits(5), waits(3)],
    ['Its queue does not move: an email was scheduled for 11 March 22:12 UTC, and none has been sent since.'],
  ],
  ['an email that hangs while others leave', [waits(5), sent(1, 'inbox')], []],
  ['an email that is a little late', [sent(9, 'inbox'), waits(1)], []],
  ['an email that is not to be sent', [sent(9, 'inbox'), waits(5, 'cancelled')], []],
  ['no list', 'nothing', []],
  ['what can not be read', [null, 7, { status: 4, landed_in: {}, scheduled_at: 'soon', sent_at: false }], []],
])('%s', (_name, emails, sentences) => {
  expect(said(emails)).toEqual(sentences);
});

test.each([
  ['hold', 'contested', 'contested', null, /contest end .*or a day/],
  ['pause', 'emergency', 'guard_action_failed', 'refused', /^A person who makes the change in the warm-up service/],
  ['hold', 'stale_data', 'guard_held', 'refused', /^The next data/],
] as const)('%s for %s: a hold has a beginning, and says what ends it', (wanted, reason, rule, state, ends) => {
  const judged = { at: now, answer: verdict({ action: wanted, reason }) };
  const facts = { title: '', sentences: [], numbers: {} };
  const row = {
    state: 'held',
    mailbox: { ...box, verdict: judged },
    alerts: [{ rule, since: pausedAt, facts }],
  } as const;
  const actions = state === null ? [] : [refused];
  const hold = holdOf(row, { actions, changes: [] }, { zone: 'UTC', command: 'warmwarden', isUnread: false });
  expect([hold.since, hold.ends]).toEqual([pausedAt, expect.stringMatching(ends)]);
});
