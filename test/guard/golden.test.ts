// The golden cases of the policy, through `warmwarden decide`; the daemon says the same (first-sight.test.ts).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { warmupModes } from '../../src/core/policy.ts';
import { addDays, utcDate } from '../../src/core/time.ts';
import { commandLine } from '../support/command-line.ts';
import { newFolder } from '../support/new-folder.ts';
import { bin, inherited, node } from '../support/process.ts';
import cases from './golden-cases.json' with { type: 'json' };

const golden: readonly { readonly id: string; readonly about: string; readonly expected: object }[] = cases;
const goldenFile = fileURLToPath(new URL('./golden-cases.json', import.meta.url));

/** `warmwarden decide` to its end; in a process of its own where it reads standard input. */
async function decide(flags: readonly string[], input = '') {
  if (input === '' && flags.some((flag) => ['--cases', '--stats'].includes(flag))) {
    const { code, stdout: out, stderr: complaint } = await commandLine(['decide', ...flags]);
    return { code, out, complaint };
  }
  const child = spawn(node, [bin, 'decide', ...flags], { env: inherited() });
  child.stdin.end(input);
  const [out, complaint, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, out, complaint };
}

function fileWith(content: string): string {
  const path = join(newFolder(), 'stats.json');
  writeFileSync(path, content);
  return path;
}

/** Statistics of today and the days before, as the API sends them, whenever the test runs. */
function statsOf(...days: readonly (readonly [number, number])[]): string {
  const today = utcDate(Date.now());
  const stats = days.map(([sent, bounced], index) => {
    return { date: addDays(today, index + 1 - days.length), sent, bounced, bounce_rate: 'NaN' };
  });
  return JSON.stringify({ stats });
}

test('decide --cases prints one row a case, in the order of the file, with the expected reasons and numbers', async () => {
  const { code, out, complaint } = await decide(['--cases', goldenFile]);
  expect([complaint, code]).toEqual(['', 0]);
  const rows = JSON.parse(out) as readonly Record<string, unknown>[];
  expect(rows).toHaveLength(25);
  expect(rows).toMatchObject(golden.map(({ id, expected }) => ({ id, ...expected })));
  const keys = ['id', 'action', 'reason', 'sent', 'bounced', 'rate_percent', 'limit_percent', 'window_days'];
  for (const row of rows) expect(Object.keys(row)).toEqual(keys);
  const extended = rows.find((row) => row['id'] === 'G08-window-extends');
  expect(extended).toMatchObject({ rate_percent: 1, limit_percent: 0.5, window_days: 10 });
});

test('decide --mode --stats judges a stats answer against the limit of the mode', async () => {
  const file = fileWith(statsOf([40, 1], [40, 0], [40, 1]));
  for (const mode of warmupModes) {
    const { code, out } = await decide(['--mode', mode, '--stats', file]);
    expect(code).toBe(0);
    const action = mode === 'recovery' ? 'pause' : mode === 'aggressive' ? 'none' : 'recovery';
    const reason = mode === 'aggressive' ? 'ok' : 'bounce_rate_over_limit';
    expect(JSON.parse(out), mode).toMatchObject({ action, reason, sent: 120, bounced: 2, rate_percent: 1.6667 });
  }
});

test('decide --stats prints the verdict on a mailbox that it knows, and at first sight', async () => {
  const { out } = await decide(['--mode', 'recovery'], statsOf([17, 4], [40, 0], [40, 0]));
  const known = { action: 'pause', reason: 'bounce_rate_over_limit', sent: 97, bounced: 4 };
  const atFirst = { action: 'none', reason: 'insufficient_evidence', sent: 97, bounced: 4 };
  expect(JSON.parse(out)).toMatchObject({ ...known, first_sight: atFirst });
});

test.each([
  ['no mode', [], null, 1],
  ['an unknown mode', ['--mode', 'turbo'], null, 2],
  ['an answer that is no object', ['--mode', 'slow', '--stats'], '[]', 1],
  ['a broken stats answer', ['--mode', 'slow', '--stats'], '{"stats":[', 1],
  ['broken cases', ['--cases'], '[{"id":', 1],
  ['cases that are no array', ['--cases'], '{}', 1],
  ['a case without a date', ['--cases'], '[{"id":"x","mode":"slow","now":"soon","stats":[]}]', 1],
] as const)('decide refuses %s with exit code 2 and one sentence', async (_, flags, content, lines) => {
  const { code, out, complaint } = await decide([...flags, ...(content === null ? [] : [fileWith(content)])]);
  expect([out, complaint.trimEnd().split('\n').length, code]).toEqual(['', lines, 2]);
});

test('a mistake in the guard section of --config is told with its place', async () => {
  const wrong = async (content: string) => {
    const file = fileWith(content);
    const { code, complaint } = await decide(['--mode', 'slow', '--stats', fileWith(statsOf()), '--config', file]);
    expect(code).toBe(2);
    return complaint.replaceAll(file, 'FILE');
  };
  const said = await wrong('guard:\n  min_bouces: 3\n  window_days: 40\n  window_max_days: 30\n');
  expect(said).toContain('FILE:2:3 guard.min_bouces: unknown key (did you mean min_bounces?)');
  expect(said).toContain('FILE:4:20 guard.window_max_days: window_max_days (30) is less than');
  expect(await wrong('guard: {}\nguards: {}\n')).toContain('FILE:2:1 guards: unknown key');
});
