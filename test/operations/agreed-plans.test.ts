// What a person agreed to is not done when it would be something else by now: a command whose plan says too little would do it.
import { beforeEach, expect, test } from 'vitest';
import type { Fleet } from '../../src/core/fleet/fleet.ts';
import type { AccountState, MailboxState } from '../../src/core/mailbox.ts';
import type { CommandOutcome, Confirmation, Operate } from '../../src/core/operator-command.ts';
import { hourMs } from '../../src/core/time.ts';
import { answers, arrivedMailbox, memory, now } from '../store/records.ts';
import { openRooms, operateOn } from './rooms.ts';

const who = { by: 'ann', reason: 'a look first' };
const bob = arrivedMailbox('m1', {
  warmup: answers.warmup,
  memory: { ...memory, reversals: [now - 2 * hourMs, now - hourMs] },
});
const ofBob = { ...who, mailbox: bob.email };

let fleet: Fleet;
let operate: Operate;

beforeEach(async () => {
  const opened = await openRooms();
  fleet = opened.fleet;
  fleet.putAccount({ name: bob.account } as AccountState);
  fleet.putMailbox(bob);
  operate = operateOn(opened.rooms);
});

/** The outcome of what was agreed to, after something changed. */
async function agreedBefore(
  change: () => unknown,
  command: (confirmation: Confirmation) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { plan, result } = await command({ dry_run: true });
  expect([result, (await command({ dry_run: true })).plan]).toEqual(['planned', plan]);
  change();
  return command({ plan: plan ?? '' });
}

const becomes = (changes: Partial<MailboxState>) => () => fleet.putMailbox({ ...bob, ...changes });

test('a limit, where another one is set by now', async () => {
  const { answer } = answers.warmup;
  const other = { ...answer, config: { ...answer.config, targetDailyLimit: 20 } };
  const outcome = await agreedBefore(becomes({ warmup: { at: now, answer: other } }), (confirmation) =>
    operate('limit', { ...ofBob, ...confirmation, limit: 30 }),
  );
  expect(outcome.result).toBe('changed');
  expect(outcome.messages.join()).toContain('from 20 to 30 emails');
});

test('the end of a contest, where others reversed another change by now', async () => {
  const reversals = [now - 2 * hourMs, now - hourMs, now];
  const outcome = await agreedBefore(becomes({ memory: { ...memory, reversals } }), (confirmation) =>
    operate('contest-end', { ...ofBob, ...confirmation }),
  );
  expect(outcome.result).toBe('changed');
});

test('a silence, where it is another one', async () => {
  let rule = 'dns_*';
  const everything = () => {
    rule = '*';
  };
  const outcome = await agreedBefore(everything, (confirmation) =>
    operate('silence-add', { ...who, ...confirmation, match: { rule: [rule] }, for_seconds: 3_600 }),
  );
  expect([outcome.result, fleet.silences(now)]).toEqual(['changed', []]);
});
