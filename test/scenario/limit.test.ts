// The operator's `limit` on a whole daemon: shown first, sent once, read back, theirs to take back, and never above the mode.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const begin = (...emails: readonly string[]) => startMovedDaemon({ scenario: stormOf(...emails), poll });
type Stage = Awaited<ReturnType<typeof begin>>;

const made = (stage: Stage) => stage.posts.map(({ email, change }) => `${email} ${change}`);
const target = (stage: Stage, email: string) => stage.mailbox(email).warmup?.answer.config.targetDailyLimit;

test('a limit is shown first, sent once, read back, not taken for a change by others, and taken back by undo', async () => {
  await using stage = await begin(oliver);
  await stage.run(20 * minuteMs);
  const set = (limit: number, more = {}) => stage.command('limit', { mailbox: oliver, limit, ...more });
  const evidence = stage.mailbox(oliver).memory?.evidence;
  const preview = await set(20, { dry_run: true });
  expect([preview.result, preview.messages.join(), stage.posts]).toEqual([
    'planned',
    expect.stringMatching(
      /^Warmwarden will set the target daily limit of oliver\S+ \(account agency, mode balanced, warm-up active\) from 40 to 20 emails\./,
    ),
    [],
  ]);
  const done = await set(20, { plan: preview.plan });
  expect([done.result, ...done.messages]).toEqual([
    'done',
    expect.stringMatching(
      /^Warmwarden set the target daily limit of oliver\S+ \(account agency\) to 20 emails\. Read back after /,
    ),
    `To undo this: \`warmwarden limit agency/${oliver} 40\`.`,
  ]);
  expect((await set(20)).messages).toEqual([`${oliver}: no change needed.`]);
  expect((await set(10)).result).toBe('done');
  await stage.run(2 * hourMs);
  expect(stage.mailbox(oliver)).toMatchObject({ memory: { evidence, claim: null, interventions: [] }, changes: [] });
  expect([stage.notified('changed_by_others'), target(stage, oliver)]).toEqual([[], 10]);
  const page = await (await fetch(`${stage.url()}/`)).text();
  expect(page).toContain('Target daily limit set to 10 emails');

  const undo = { since_seconds: 4 * 3_600 };
  const undone = await stage.command('undo', undo);
  expect([undone.result, made(stage)]).toEqual([
    'done',
    [`${oliver} limit 20`, `${oliver} limit 10`, `${oliver} limit 40`],
  ]);
  expect((await stage.command('undo', undo)).result).toBe('no_change');

  expect((await set(12)).result).toBe('done');
  stage.simulator.fleet.configure(oliver, { targetDailyLimit: 30 });
  await stage.run(31 * minuteMs);
  const left = await stage.command('undo', undo);
  expect([left.result, left.messages.join(' ')]).toEqual([
    'no_change',
    expect.stringContaining(`${oliver}: not changed, because it has been changed or reversed since.`),
  ]);
  expect([stage.posts.length, target(stage, oliver)]).toEqual([4, 30]);
});

test('a limit above the maximum of the mode is refused, also when the mode changed since anybody looked', async () => {
  await using stage = await begin(oliver);
  await stage.run(20 * minuteMs);
  const set = (limit: number) => stage.command('limit', { mailbox: oliver, limit });
  expect(await set(41)).toEqual({
    result: 'invalid',
    messages: [
      `${oliver}: 41 emails a day is above the maximum of balanced mode, which is 40 emails a day. Set a lower daily limit, or another mode first.`,
    ],
  });
  stage.simulator.fleet.setMode(oliver, 'slow');
  const late = await set(30);
  expect([late.result, late.messages.join(' ')]).toEqual([
    'failed',
    expect.stringContaining('30 emails a day is above the maximum of slow mode, which is 20 emails a day.'),
  ]);
  expect(stage.posts).toEqual([]);
});

test('a limit in our recovery leaves the recovery ours; a recipe sets one, too', async () => {
  await using stage = await begin(amelia);
  await stage.until('the switch', () => stage.mailbox(amelia).memory?.claim?.kind === 'recovery', 6 * hourMs);
  expect((await stage.command('limit', { mailbox: amelia, limit: 5 })).result).toBe('done');
  await stage.run(2 * hourMs);
  expect(stage.mailbox(amelia)).toMatchObject({ memory: { claim: { kind: 'recovery' }, reversals: [] }, changes: [] });
  mkdirSync(join(stage.folder, 'recipes'), { recursive: true });
  writeFileSync(
    join(stage.folder, 'recipes', 'gentle.yaml'),
    `id: gentle\ntitle: Gentle\ndescription: Recovery with few emails.
select: SELECT account, mailbox_id FROM mailboxes WHERE mode = 'recovery'
do: {operation: limit, limit: 3, reason: gentle}
schedule: {cron: "0 * * * *", apply: true}\n`,
  );
  await stage.until('the recipe', () => target(stage, amelia) === 3, 3 * hourMs);
  expect(made(stage)).toEqual([`${amelia} recovery`, `${amelia} limit 5`, `${amelia} limit 3`]);
  expect(stage.mailbox(amelia).action).toMatchObject({ kind: 'limit', by: { reason: 'gentle (recipe gentle)' } });
});
