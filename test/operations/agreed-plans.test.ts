// What a person agreed to is not done when it would be something else by now: a command whose plan says too little would do it.
import { beforeEach, expect, test } from 'vitest';
import type { Fleet } from '../../src/core/fleet/fleet.ts';
import type { AccountState, MailboxState } from '../../src/core/mailbox.ts';
import type { Operate } from '../../src/core/operator-command.ts';
import { hourMs } from '../../src/core/time.ts';
import { answers, arrivedMailbox, memory, now } from '../store/records.ts';
import { openRooms, operateOn } from './rooms.ts';

const who = { by: 'ann', reason: 'a look first' };
const bob = arrivedMailbox('m1', {
  warmup: answers.warmup,
  memory: { ...memory, reversals: [now - 2 * hourMs, now - hourMs] },
});

let fleet: Fleet;
let operate: Operate;

beforeEach(async () => {
  const opened = await openRooms();
  fleet = opened.fleet;
  fleet.putAccount({ name: bob.account } as AccountState);
  fleet.putMailbox(bob);
  operate = operateOn(opened.rooms);
});

const becomes = (changes: Partial<MailboxState>) => {
  fleet.putMailbox({ ...bob, ...changes });
  return {};
};
const { answer } = answers.warmup;
const otherLimit = { ...answer, config: { ...answer.config, targetDailyLimit: 20 } };
const reversals = [now - 2 * hourMs, now - hourMs, now];
const silence = { match: { rule: ['dns_*'] }, for_seconds: 3_600 };

/** What was agreed to is asked for after `change`, with what that answers. */
test.each<[string, string, object, () => object, string]>([
  [
    'a limit, where another one is set by now',
    'limit',
    { mailbox: bob.email, limit: 30 },
    () => becomes({ warmup: { at: now, answer: otherLimit } }),
    'from 20 to 30 emails',
  ],
  [
    'the end of a contest, where others reversed another change by now',
    'contest-end',
    { mailbox: bob.email },
    () => becomes({ memory: { ...memory, reversals } }),
    '',
  ],
  ['a silence, where it is another one', 'silence-add', silence, () => ({ match: { rule: ['*'] } }), ''],
])('%s', async (_, name, request, change, words) => {
  const command = (more: object) => operate(name, { ...who, ...request, ...more });
  const { plan, result } = await command({ dry_run: true });
  expect([result, (await command({ dry_run: true })).plan]).toEqual(['planned', plan]);
  const outcome = await command({ plan, ...change() });
  expect([outcome.result, fleet.silences(now)]).toEqual(['changed', []]);
  expect(outcome.messages.join()).toContain(words);
});
