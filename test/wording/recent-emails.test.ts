// What recent emails show besides bounces: how many landed in spam, and whether the queue moves.
import { expect, test } from 'vitest';
import { readWarmup } from '../../src/api/answers.ts';
import { hourMs } from '../../src/core/time.ts';
import { recentEmailSentences } from '../../src/core/wording/phrases.ts';

const now = Date.parse('2026-03-10T12:00:00Z');
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
    ['Its queue does not move: an email was scheduled for 10 March 07:00 UTC, and none has been sent since.'],
  ],
  ['an email that hangs while others leave', [waits(5), sent(1, 'inbox')], []],
  ['an email that is a little late', [sent(9, 'inbox'), waits(1)], []],
  ['an email that is not to be sent', [sent(9, 'inbox'), waits(5, 'cancelled')], []],
  ['no list', 'nothing', []],
  ['what can not be read', [null, 7, { status: 4, landed_in: {}, scheduled_at: 'soon', sent_at: false }], []],
])('%s', (_name, emails, sentences) => {
  expect(said(emails)).toEqual(sentences);
});
