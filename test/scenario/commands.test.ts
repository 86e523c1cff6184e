// Commands of people on a whole daemon, through its socket: shown first, sent once, read back, theirs to take back; what `set` never
// touches; and the write stop.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mailboxCommandPath } from '../../src/core/page-links.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, jonas, oliver, stormOf } from '../account/duty.ts';
import { type MovedDaemon, type MovedOptions, startMovedDaemon } from './moved-daemon.ts';

const one = (email: string) => ({ mailbox: email });
const claimOf = (stage: MovedDaemon, email: string) => stage.mailbox(email).memory?.claim?.kind;
const target = (stage: MovedDaemon, email: string) => stage.mailbox(email).warmup?.answer.config.targetDailyLimit;

async function begin(emails: readonly string[], options: MovedOptions = {}) {
  const stage = await startMovedDaemon({ scenario: stormOf(...emails), ...options });
  await stage.run(20 * minuteMs);
  return stage;
}

/** A recipe that changes the mailboxes in recovery, each hour; its reason is its name. */
function addRecipe(stage: MovedDaemon, id: string, change: string): void {
  mkdirSync(join(stage.folder, 'recipes'), { recursive: true });
  writeFileSync(
    join(stage.folder, 'recipes', `${id}.yaml`),
    `id: ${id}\ntitle: t\ndescription: d
select: SELECT account, mailbox_id FROM mailboxes WHERE mode = 'recovery'
do: {${change}, reason: ${id}}
schedule: {cron: "0 * * * *", apply: true}\n`,
  );
}

const commands = [
  [
    'pause',
    {},
    /^Warmwarden will pause the warm-up of oliver\S+ \(account agency, mode balanced, warm-up \w+\) until a person/,
  ],
  ['resume', {}, /^Warmwarden will resume the warm-up of oliver/],
  ['mode', { mode: 'slow' }, /^Warmwarden will set the mode of oliver\S+ \(.*mode balanced.*\) to slow\./],
  ['limit', { limit: 12 }, /^Warmwarden will set the target daily limit of oliver\S+ \(.*\) from 20 to 12 emails\./],
  [
    'set',
    { reply_rate: 31, send_window: '8-17' },
    /^Warmwarden will change reply_rate=30 send_window=9-17 of oliver\S+ \(.*\) to reply_rate=31 send_window=8-17\. The mode,/,
  ],
] as const;

test('a command is shown first, sent once and read back; it claims nothing, and is nobody else’s change', async () => {
  await using stage = await begin([oliver]);
  for (const [name, what, will] of commands) {
    const body = { ...one(oliver), ...what };
    const before = stage.posts.length;
    const preview = await stage.command(name, { ...body, dry_run: true });
    expect([preview.result, preview.messages[0], stage.posts.length]).toEqual([
      'planned',
      expect.stringMatching(will),
      before,
    ]);
    const done = await stage.command(name, { ...body, plan: preview.plan });
    expect([done.result, done.messages[0]]).toEqual([
      'done',
      expect.stringMatching(/ of oliver\S+.* Read back after /),
    ]);
    expect(await stage.command(name, body)).toEqual({
      result: 'no_change',
      messages: [`${oliver}: no change needed.`],
    });
    if (name === 'limit' || name === 'set')
      expect(done.messages[1]).toContain(`To undo this: \`warmwarden ${name} agency/${oliver} `);
  }
  await stage.run(2 * hourMs);
  const settings = JSON.stringify({ reply_rate: 31, send_window_start: 8, send_window_end: 17 });
  expect(stage.made()).toEqual(
    ['pause', 'resume', 'slow', 'limit 12', settings].map((change) => `${oliver} ${change}`),
  );
  const memory = { run: 'running', mode: 'slow', claim: null, interventions: [] };
  expect(stage.mailbox(oliver)).toMatchObject({ memory, changes: [] });
  for (const rule of ['guard_acted', 'changed_by_others']) expect(stage.notified(rule)).toEqual([]);
  const page = await stage.text('/');
  for (const change of ['Target daily limit set to 12 emails', 'Set reply_rate=31']) expect(page).toContain(change);
});

test('a limit above the maximum of the mode is refused, also when the mode changed since anybody looked', async () => {
  await using stage = await begin([oliver]);
  const set = (limit: number) => stage.command('limit', { mailbox: oliver, limit });
  expect(await set(41)).toMatchObject({
    result: 'invalid',
    messages: [expect.stringContaining('41 emails a day is above the maximum of balanced mode, which is 40')],
  });
  stage.simulator.fleet.setMode(oliver, 'slow');
  const late = await set(30);
  expect([late.result, late.messages.join()]).toEqual([
    'failed',
    expect.stringContaining('30 emails a day is above the maximum of slow mode, which is 20'),
  ]);
  expect(stage.posts).toEqual([]);
});

test('undo refuses a limit above the maximum of a mode that was set since, and its dry run says the same', async () => {
  await using stage = await begin([oliver]);
  await stage.command('limit', { mailbox: oliver, limit: 20 });
  await stage.command('mode', { mailbox: oliver, mode: 'slow' });
  const above = `${oliver}: 40 emails a day is above the maximum of slow mode, which is 20 emails a day.`;
  const before = stage.posts.length;
  const dry = await stage.command('undo', { since_seconds: 3_600, dry_run: true });
  expect(dry).toMatchObject({ result: 'failed', messages: [above] });
  const real = await stage.command('undo', { since_seconds: 3_600 });
  expect([real.result, real.messages[0], stage.posts.length]).toEqual(['failed', above, before]);
});

test('the guard leaves what a person set: a limit in our recovery leaves it ours, a mode ends it; a recipe sets a limit, too', async () => {
  await using stage = await begin([amelia]);
  await stage.until('the switch', () => claimOf(stage, amelia) === 'recovery', 6 * hourMs);
  expect((await stage.command('limit', { mailbox: amelia, limit: 5 })).result).toBe('done');
  await stage.run(2 * hourMs);
  expect(stage.mailbox(amelia)).toMatchObject({ memory: { claim: { kind: 'recovery' }, reversals: [] }, changes: [] });
  addRecipe(stage, 'gentle', 'operation: limit, limit: 3');
  await stage.until('the recipe', () => target(stage, amelia) === 3, 3 * hourMs);
  expect(stage.mailbox(amelia).action).toMatchObject({ kind: 'limit', by: { reason: 'gentle (recipe gentle)' } });
  expect((await stage.command('mode', { ...one(amelia), mode: 'slow' })).result).toBe('done');
  await stage.run(3 * hourMs);
  expect(stage.made()).toEqual(['recovery', 'limit 5', 'limit 3', 'slow'].map((change) => `${amelia} ${change}`));
  expect(stage.mailbox(amelia)).toMatchObject({ memory: { claim: null, mode: 'slow' } });
});

test('undo takes back what is still ours, once, and leaves what a person changed', async () => {
  await using stage = await begin([amelia, jonas, oliver]);
  const both = () => [amelia, jonas].every((email) => claimOf(stage, email));
  await stage.until('both acted upon', both, 8 * hourMs);
  const request = { since_seconds: 12 * 3_600 };
  const ofBoth = await stage.command('undo', { ...request, dry_run: true });
  expect(ofBoth.messages.join(' ')).toMatch(
    /acted because of this: \d+ bounces in \d+ emails .* Earlier bounces no longer/,
  );
  for (const limit of [20, 10]) await stage.command('limit', { mailbox: oliver, limit });
  stage.simulator.fleet.setMode(amelia, 'slow');
  await stage.run(31 * minuteMs);
  const before = stage.posts.length;
  const preview = await stage.command('undo', { ...request, dry_run: true });
  expect(preview.messages.join(' ')).toContain(`${amelia}: not changed`);
  const outdated = await stage.command('undo', { ...request, plan: ofBoth.plan ?? '' });
  expect([outdated.result, outdated.plan, stage.posts.length]).toEqual(['changed', preview.plan, before]);
  await stage.writes(true);
  const stopped = await stage.command('undo', request);
  expect([stopped.result, stopped.messages[0]]).toEqual(['failed', expect.stringMatching(/^Writes are off for all/)]);
  await stage.writes(false);
  expect((await stage.command('undo', { ...request, plan: preview.plan ?? '' })).result).toBe('done');
  expect(stage.made().slice(before).sort()).toEqual([`${jonas} resume`, `${oliver} limit 40`]);
  expect(stage.mailbox(jonas)).toMatchObject({ memory: { claim: null, run: 'running' } });
  expect((await stage.command('undo', request)).messages[0]).toMatch(/^Nothing to undo: .* is still in force\.$/);
});

test('writes off ends by itself after its time, and for one mailbox leaves the others guarded', async () => {
  await using stage = await begin([amelia, oliver]);
  expect((await stage.writes(true, { mailbox: 'nobody@x.example' })).result).toBe('invalid');
  await stage.writes(true, { mailbox: oliver });
  const end = stage.clock.now() + 3 * hourMs;
  await stage.writes(true, { forMs: 3 * hourMs });
  await stage.run(3 * hourMs - minuteMs);
  expect(stage.posts).toEqual([]);
  await stage.run(hourMs);
  expect([stage.made(), (stage.posts[0]?.at ?? 0) >= end]).toEqual([[`${amelia} recovery`], true]);
  const refused = await stage.command('pause', one(oliver));
  expect(refused.messages[0]).toContain(`To allow them: \`warmwarden writes on --mailbox agency/${oliver}\`.`);
});

const asked = { mailbox: oliver, reply_rate: 31, send_window: '8-17' };
const config = (stage: MovedDaemon, email: string) => stage.simulator.fleet.find(email)?.config;

test('settings that are so already change nothing, and undo takes them back, but for one that others changed since', async () => {
  await using stage = await begin([oliver]);
  const before = config(stage, oliver);
  await stage.command('set', asked);
  const again = await stage.command('set', { ...asked, dry_run: true });
  expect(again.messages[0]).toMatch(
    /had reply_rate=31 send_window=8-17 already\. If it still has, Warmwarden changes nothing/,
  );
  await stage.command('set', { mailbox: oliver, reply_rate: 32 });
  stage.simulator.fleet.configure(oliver, { windowEnd: 19 });
  await stage.run(31 * minuteMs);
  expect((await stage.command('undo', { since_seconds: 12 * 3_600 })).result).toBe('done');
  expect(JSON.parse(stage.posts.at(-1)?.change ?? '')).toEqual({
    reply_rate: before?.replyRate,
    send_window_start: before?.windowStart,
  });
  expect(config(stage, oliver)).toEqual({ ...before, windowEnd: 19 });
  expect((await stage.command('undo', { since_seconds: 12 * 3_600 })).messages[0]).toMatch(/^Nothing to undo/);
});

test('a pause by others in the same look is not ours, and our recovery stays ours; a recipe and the page set, too', async () => {
  await using stage = await begin([amelia, oliver]);
  await stage.until('the switch', () => claimOf(stage, amelia) === 'recovery', 6 * hourMs);
  stage.simulator.fleet.find(oliver)?.pause();
  await stage.command('set', asked);
  expect(stage.mailbox(oliver).changes).toMatchObject([{ what: 'warm-up' }]);
  addRecipe(stage, 'calm', 'operation: set, reply_rate: 12, send_window: 9-12');
  await stage.until('the recipe', () => config(stage, amelia)?.replyRate === 12, 3 * hourMs);
  await stage.run(2 * minuteMs);
  expect(stage.mailbox(amelia)).toMatchObject({
    memory: { claim: { kind: 'recovery' }, reversals: [] },
    action: { kind: 'set', by: { reason: 'calm (recipe calm)' } },
  });
  const page = await stage.text(`${mailboxCommandPath(stage.mailbox(amelia), 'set')}&reply_rate=40`);
  expect(page).toContain('to reply_rate=40. The mode, the daily limit');
});

test('nothing is sent while writes are off, for what cannot be, and beside the guard’s own change', async () => {
  await using stage = await begin([oliver]);
  const refused = async (body: object) => {
    const { result, messages } = await stage.command('set', body as never);
    return [result, messages.join(' ')];
  };
  const only = 'known here: reply_rate, send_window. The commands mode and limit set the mode and the daily limit';
  for (const key of ['mode', 'warmup_mode', 'limit', 'target_daily_limit'])
    expect(await refused({ ...asked, [key]: 1 })).toEqual([
      'invalid',
      expect.stringContaining(`${key}: unknown setting; ${only}`),
    ]);
  expect(await refused({ ...asked, reply_rat: 1 })).toEqual([
    'invalid',
    expect.stringContaining('(did you mean reply_rate?)'),
  ]);
  for (const wrong of [
    { reply_rate: 101 },
    { reply_rate: 1.5 },
    { send_window: '8' },
    { send_window: '24-3' },
    { send_window: '8-8' },
    {},
  ])
    expect(await refused({ mailbox: oliver, ...wrong })).toEqual(['invalid', expect.any(String)]);
  await stage.writes(true);
  expect(await refused(asked)).toEqual(['failed', expect.stringContaining('Writes are off')]);
  expect(stage.posts).toEqual([]);
  await stage.writes(false);
  expect(await refused({ mailbox: oliver, send_window: '22-6' })).toEqual([
    'failed',
    expect.stringContaining('the API refused the change to send_window=22-6'),
  ]);
});
