// The emergency stop: writes off and on, through the socket of a whole daemon, on a clock that is moved by hand.
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const begin = () => startMovedDaemon({ scenario: stormOf(amelia, oliver), poll });
type Stage = Awaited<ReturnType<typeof begin>>;

const wanted = (stage: Stage) => stage.mailbox(amelia).verdict?.answer.wanted;

describe('writes off', () => {
  it('stops the POST of a breach, tells it instead, and acts when writing is on again', async () => {
    await using stage = await begin();
    await stage.run(10 * minuteMs);
    expect(await stage.writes(true)).toMatchObject({
      result: 'done',
      messages: [
        'Writes are off for all accounts until a person switches them on. To allow them: `warmwarden writes on`.',
      ],
    });
    await stage.until('the breach', () => wanted(stage) === 'recovery', 4 * hourMs);
    await stage.run(5 * minuteMs);
    expect(stage.posts).toEqual([]);
    expect(stage.notified('bounce_over_limit')).toEqual(['firing']);
    expect(await (await request(`${stage.url()}/`)).body.text()).toContain('Writes are OFF for all accounts.');
    expect(await (await request(`${stage.url()}/metrics`)).body.text()).toMatch(/guard_enforcing\{[^}]*\} 0/);
    await stage.writes(false);
    await stage.run(10 * minuteMs);
    expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([[amelia, 'recovery']]);
    expect(stage.notified('bounce_over_limit')).toEqual(['firing', 'resolved']);
    expect(stage.notified('protection_off')).toEqual(['firing', 'resolved']);
  });

  it('survives a restart, and ends by itself after its time', async () => {
    await using stage = await begin();
    await stage.run(10 * minuteMs);
    const end = stage.clock.now() + 3 * hourMs;
    await stage.writes(true, { forMs: 3 * hourMs });
    await stage.restart();
    await stage.until('the breach', () => wanted(stage) === 'recovery', end - stage.clock.now() - minuteMs);
    expect(stage.posts).toEqual([]);
    await stage.run(end - stage.clock.now() + 10 * minuteMs);
    expect(stage.posts[0]?.at).toBeGreaterThanOrEqual(end);
    expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([[amelia, 'recovery']]);
    expect(stage.notified('protection_off')).toEqual(['firing', 'resolved']);
  });

  it('for one mailbox leaves the others guarded, and names what it does not know', async () => {
    await using stage = await begin();
    await stage.run(10 * minuteMs);
    expect((await stage.writes(true, { mailbox: 'nobody@x.example' })).result).toBe('invalid');
    await stage.writes(true, { mailbox: oliver });
    await stage.run(4 * hourMs);
    const refused = await stage.command('pause', { mailbox: oliver });
    expect(refused.messages).toEqual([
      `Writes are off for mailbox ${oliver} (account agency) (a test: to see it). To allow them: \`warmwarden writes on --mailbox agency/${oliver}\`.`,
      'Nothing was done.',
    ]);
    expect(stage.posts.map(({ email, change }) => [email, change])).toEqual([[amelia, 'recovery']]);
  });
});
