// What the preview of `resume` and `undo` names besides the change itself.
import { expect, test } from 'vitest';
import { hourMs } from '../../src/core/time.ts';
import { now } from '../store/records.ts';
import { alert, mailbox } from '../web/example-fleet.ts';
import { openRooms, operateOn } from './rooms.ts';

const request = { by: 'ann', reason: 'a test', dry_run: true } as const;
const claim = { kind: 'pause', actionId: 'a1', since: now - 21 * hourMs, previousMode: null, under: null } as const;

test('the preview of a resume names the alerts that still fire, of the mailbox and of its IP address', async () => {
  const { fleet, rooms } = await openRooms();
  const box = mailbox('m1', 'a@acme.example');
  const answer = {
    domain: null,
    ip: '192.0.2.7',
    checkedAt: null,
    listed: true,
    lists: ['zen'],
    found: 1,
    checked: 60,
  };
  fleet.putMailbox({ ...box, blacklist: { at: now, answer } });
  const resume = async () => (await operateOn(rooms)('resume', { mailbox: 'm1', ...request })).messages;
  expect((await resume()).join(' ')).not.toContain('still firing');
  const titled = (title: string) => ({ facts: { title, sentences: [], numbers: {} } });
  fleet.putAlert(alert({ rule: 'reputation_low', mailboxId: 'm1', ...titled('score fell') }));
  fleet.putAlert(alert({ rule: 'blacklisted', object: '192.0.2.7', ...titled('listed on zen') }));
  fleet.putAlert(alert({ rule: 'blacklisted', object: '192.0.2.8', ...titled('another IP address') }));
  fleet.putAlert(alert({ rule: 'reputation_low', mailboxId: 'm2', ...titled('another mailbox') }));
  expect(await resume()).toContain('Alerts are still firing: score fell, listed on zen.');
});

test('an undo that finds nothing names the older changes in force', async () => {
  const { fleet, rooms } = await openRooms();
  const box = mailbox('m1', 'a@acme.example');
  fleet.putMailbox(box);
  const undo = async () => (await operateOn(rooms)('undo', { since_seconds: 3_600, ...request })).messages.slice(1);
  expect(await undo()).toEqual([]);
  fleet.putMailbox({ ...box, memory: box.memory && { ...box.memory, claim } });
  expect(await undo()).toEqual([
    '1 mailbox is still changed from before: a longer time undoes that, and would resume 1 paused warm-up.',
  ]);
});
