// Who is affected, in a fleet in which nearly nobody is: the others are passed by, with pauses for whoever waits.
import { expect, test } from 'vitest';
import { affectedMailboxes } from '../../src/alerts/shared-cause.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { action, alert, mailbox, now } from '../web/example-fleet.ts';

const of = (number: number, account = 'acme') =>
  mailbox(`m${number}`, `box${number}@acme.example`, { account, firstSeenAt: now - 48 * hourMs });
const began = { firingAt: now - minuteMs, since: now - minuteMs };

test('of a thousand mailboxes those are found that have an alert of their own or an action', () => {
  const paused = of(600);
  const all = [...Array.from({ length: 1_000 }, (_, number) => of(number)), of(7, 'other')];
  all[600] = { ...paused, action: action('a1', paused, { kind: 'pause', state: 'open', openedAt: now - minuteMs }) };
  const found = affectedMailboxes({
    now,
    mailboxes: all,
    firing: [
      alert({ rule: 'bounce_over_limit', account: 'acme', mailboxId: 'm7', ...began }),
      alert({ rule: 'mailbox_unwell', account: 'acme', mailboxId: 'm8', ...began }),
    ],
    breakers: [],
    unnotified: [],
    apiOf: () => 'https://api.example',
  });
  expect([...found].map(([key, one]) => [key, one.mailbox.state])).toEqual([
    ['acme/m7', 'not_acted'],
    ['acme/m600', 'paused'],
  ]);
  expect(found.get('acme/m7')?.traits).toMatchObject({ domain: 'acme.example', base_url: 'https://api.example' });
});
