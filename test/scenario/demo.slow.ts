// The demo as a newcomer sees it: `npm start`, the story, addresses that answer, Ctrl-C.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/world/world.ts';

const root = join(import.meta.dirname, '../..');
/** The promise: the story is told within this. */
const storyWithinMs = 90_000;

describe('npm start', () => {
  const demo = spawn('npm', ['start'], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let shown = '';

  beforeAll(async () => {
    for (const stream of [demo.stdout, demo.stderr]) stream.on('data', (chunk) => (shown += String(chunk)));
    const clock = systemClock();
    for (let waited = 0; waited < storyWithinMs && !shown.includes('both alerts were sent'); waited += 200)
      await clock.sleep(200);
  }, storyWithinMs + 10_000);
  afterAll(() => {
    if (demo.exitCode === null) demo.kill('SIGKILL');
  });

  it('tells of a mailbox switched to recovery and of another one paused, with counts and limit', () => {
    // Lines are broken between words.
    const story = shown.replace(/\s+/g, ' ');
    expect(story).toMatch(/Warmwarden switched amelia\.ward@northbeam\.example to RECOVERY mode/);
    expect(story).toMatch(/2 bounces in 136 emails from .*: 1\.47%, over the balanced limit of 1%/);
    expect(story).toMatch(/Warmwarden PAUSED the warm-up of jonas\.keller@brightpath\.example/);
    expect(story).toMatch(/3 bounces in 30 emails since .*: 10%/);
  });

  it('shows the alerts as they were sent, signatures verified', () => {
    expect(shown).toContain('in Slack:');
    expect(shown).toContain('signature verified');
    expect(shown).not.toContain('SIGNATURE WRONG');
  });

  it('names addresses that answer', async () => {
    const addresses = [...shown.matchAll(/http:\/\/127\.0\.0\.1:\d+\/(?:metrics|v1\/health)?(?=\s)/g)].map(
      ([url]) => url,
    );
    expect(addresses.length).toBeGreaterThanOrEqual(3);
    for (const url of addresses) expect((await request(url)).statusCode, url).toBe(200);
  });

  it('ends cleanly at Ctrl-C', async () => {
    const closed = once(demo, 'exit');
    // A terminal sends the signal to the whole group of processes.
    process.kill(-(demo.pid ?? 0), 'SIGINT');
    await closed;
    expect(shown).toContain('stopped');
    expect(shown).not.toContain('Error');
    const [page = ''] = /http:\/\/127\.0\.0\.1:\d+\//.exec(shown) ?? [];
    await expect(request(page)).rejects.toThrow();
  });
});
