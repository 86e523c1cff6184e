// `set` on a whole daemon: shown first, sent once, read back, ours and a person's to take back; and what it never touches.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mailboxCommandPath } from '../../src/core/page-links.ts';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { type MovedDaemon, startMovedDaemon } from './moved-daemon.ts';

const asked = { mailbox: oliver, reply_rate: 31, send_window: '8-17' };
const config = (stage: MovedDaemon, email: string) => stage.simulator.fleet.find(email)?.config;
const posted = (stage: MovedDaemon) =>
  stage.posts.map(({ change }) => (change.startsWith('{') ? JSON.parse(change) : change));

async function begin(...emails: readonly string[]) {
  const stage = await startMovedDaemon({ scenario: stormOf(...emails) });
  await stage.run(20 * minuteMs);
  return stage;
}

test('settings are shown first, sent once, read back, taken back by undo, and nobody else’s change', async () => {
  await using stage = await begin(oliver);
  const before = config(stage, oliver);
  const old = `reply_rate=${before?.replyRate} send_window=${before?.windowStart}-${before?.windowEnd}`;
  const preview = await stage.command('set', { ...asked, dry_run: true });
  const effect = `Warmwarden will change ${old} of ${oliver} (account agency, mode balanced, warm-up active) to reply_rate=31 send_window=8-17. The mode,`;
  expect([preview.result, preview.messages[0], stage.posts.length]).toEqual([
    'planned',
    expect.stringContaining(effect),
    0,
  ]);
  const done = await stage.command('set', { ...asked, plan: preview.plan });
  expect([done.result, done.messages]).toEqual([
    'done',
    [
      expect.stringMatching(
        /^Warmwarden set reply_rate=31 send_window=8-17 of oliver\S+ \(account agency\)\. Read back after/,
      ),
      `To undo this: \`warmwarden set agency/${oliver} ${old}\`.`,
    ],
  ]);
  const again = await stage.command('set', { ...asked, dry_run: true });
  expect(again.messages[0]).toMatch(
    /had reply_rate=31 send_window=8-17 already\. If it still has, Warmwarden changes nothing/,
  );
  expect(await stage.command('set', asked)).toMatchObject({ result: 'no_change' });
  expect(posted(stage)).toEqual([{ reply_rate: 31, send_window_start: 8, send_window_end: 17 }]);
  expect(await stage.command('set', { mailbox: oliver, reply_rate: 32 })).toMatchObject({ result: 'done' });
  await stage.run(2 * hourMs);
  const memory = { run: 'running', mode: 'balanced', claim: null, interventions: [] };
  expect(stage.mailbox(oliver)).toMatchObject({ memory, changes: [], action: { kind: 'set', state: 'confirmed' } });
  for (const rule of ['guard_acted', 'changed_by_others']) expect(stage.notified(rule)).toEqual([]);
  expect(await stage.text('/')).toContain('Set reply_rate=32');
  stage.simulator.fleet.configure(oliver, { windowEnd: 19 });
  await stage.run(31 * minuteMs);
  const undone = await stage.command('undo', { since_seconds: 12 * 3_600 });
  expect([undone.result, posted(stage).at(-1)]).toEqual([
    'done',
    { reply_rate: before?.replyRate, send_window_start: before?.windowStart },
  ]);
  expect(config(stage, oliver)).toEqual({ ...before, windowEnd: 19 });
  expect((await stage.command('undo', { since_seconds: 12 * 3_600 })).messages[0]).toMatch(/^Nothing to undo/);
});

test('a pause by others in the same look is not ours, and our recovery stays ours; a recipe and the page set, too', async () => {
  await using stage = await begin(amelia, oliver);
  const claim = () => stage.mailbox(amelia).memory?.claim?.kind;
  await stage.until('the switch', () => claim() === 'recovery', 6 * hourMs);
  stage.simulator.fleet.find(oliver)?.pause();
  await stage.command('set', asked);
  expect(stage.mailbox(oliver).changes).toMatchObject([{ what: 'warm-up' }]);
  mkdirSync(join(stage.folder, 'recipes'), { recursive: true });
  writeFileSync(
    join(stage.folder, 'recipes', 'calm.yaml'),
    `id: calm\ntitle: Calm\ndescription: Fewer replies in recovery.
select: SELECT account, mailbox_id FROM mailboxes WHERE mode = 'recovery'
do: {operation: set, reply_rate: 12, send_window: 9-12, reason: calm}
schedule: {cron: "0 * * * *", apply: true}\n`,
  );
  await stage.until('the recipe', () => config(stage, amelia)?.replyRate === 12, 3 * hourMs);
  await stage.run(2 * minuteMs);
  expect(stage.mailbox(amelia)).toMatchObject({
    ...{
      memory: { claim: { kind: 'recovery' }, reversals: [] },
      action: { kind: 'set', by: { reason: 'calm (recipe calm)' } },
    },
  });
  const page = await stage.text(`${mailboxCommandPath(stage.mailbox(amelia), 'set')}&reply_rate=40`);
  expect(page).toContain('to reply_rate=40. The mode, the daily limit');
});

test('nothing is sent while writes are off, for what cannot be, and beside the guard’s own change', async () => {
  await using stage = await begin(oliver);
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
