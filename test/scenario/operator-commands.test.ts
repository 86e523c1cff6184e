// Operator commands on a whole daemon: pause, resume, mode and undo, through its socket, on a clock that is moved by hand.
import { describe, expect, it } from 'vitest';
import { hourMs, minuteMs } from '../../src/core/time.ts';
import { amelia, jonas, oliver, stormOf } from '../account/duty.ts';
import { startMovedDaemon } from './moved-daemon.ts';

const poll = { health: '0 * * * *', mailboxes: '*/30 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *' };
const begin = (...emails: readonly string[]) => startMovedDaemon({ scenario: stormOf(...emails), poll });
type Stage = Awaited<ReturnType<typeof begin>>;

const made = (stage: Stage) => stage.posts.map(({ email, change }) => `${email} ${change}`);
const one = (email: string) => ({ mailbox: email });

describe('an operator command on a mailbox', () => {
  it('says what it would do, does it, reads it back, and claims nothing', async () => {
    await using stage = await begin(oliver);
    await stage.run(20 * minuteMs);
    const effect = await stage.command('pause', { mailbox: oliver, dry_run: true });
    expect(effect.messages.join()).toMatch(
      /^Warmwarden will pause the warm-up of oliver\S+ \(account agency, mode balanced, warm-up \w+\) until a person/,
    );
    expect(stage.posts).toEqual([]);
    const paused = await stage.command('pause', one(oliver));
    expect(paused).toMatchObject({ result: 'done' });
    expect(paused.messages.join()).toMatch(
      /^Warmwarden paused the warm-up of oliver\S+ \(account agency\)\. Read back after /,
    );
    await stage.run(2 * hourMs);
    expect(stage.mailbox(oliver)).toMatchObject({ memory: { run: 'paused', claim: null, interventions: [] } });
    const again = await stage.command('pause', { mailbox: oliver, dry_run: true });
    expect(again.messages.join()).toMatch(
      /^When Warmwarden last read it, the warm-up of oliver\S+ \(.*\) was already paused\./,
    );
    expect(await stage.command('pause', one(oliver))).toEqual({
      result: 'no_change',
      messages: [`${oliver}: no change needed.`],
    });
    expect((await stage.command('resume', one(oliver))).result).toBe('done');
    expect((await stage.command('mode', { ...one(oliver), mode: 'slow' })).result).toBe('done');
    await stage.run(2 * hourMs);
    expect(made(stage)).toEqual([`${oliver} pause`, `${oliver} resume`, `${oliver} slow`]);
    expect(stage.mailbox(oliver)).toMatchObject({ memory: { run: 'running', mode: 'slow', claim: null } });
    // What a person asked for is no act of the guard.
    expect(stage.notified('guard_acted')).toEqual([]);
  });

  it('asked for its effect first, changes nothing', async () => {
    await using stage = await begin(oliver);
    await stage.run(20 * minuteMs);
    const off = { off: true, account: null, mailbox: oliver, for_seconds: 3_600, dry_run: true };
    expect((await stage.command('writes', off)).messages.join()).toMatch(
      /^Warmwarden will stop changing this mailbox: writes will be off for mailbox oliver\S+ \(account agency\) until .*\./,
    );
    const silence = { match: { domain: ['northbeam.example'] }, for_seconds: 3_600, dry_run: true };
    expect((await stage.command('silence-add', silence)).messages[0]).toMatch(
      /^The silence lasts until .* It matches no alerts that are firing now\./,
    );
    const nothing = await stage.command('breaker-release', { dry_run: true });
    expect(nothing).toEqual({
      result: 'no_change',
      messages: ['Nothing to release: the circuit breaker is not holding any action.'],
    });
    const { fleet, clock } = stage;
    expect([fleet().writesOff(clock.now()), fleet().silences(clock.now())]).toEqual([[], []]);
  });

  it('is stopped by the emergency stop, and names a mailbox that it does not know', async () => {
    await using stage = await begin(oliver);
    await stage.run(20 * minuteMs);
    await stage.writes(true);
    const refused = await stage.command('pause', one(oliver));
    expect(refused).toEqual({
      result: 'failed',
      messages: [
        'Writes are off for all accounts (a test: to see it). To allow them: `warmwarden writes on`.',
        'Nothing was done.',
      ],
    });
    const writes = { account: null, mailbox: null, for_seconds: null };
    for (const scope of [{}, { account: 'agency' }, { mailbox: oliver }]) {
      await stage.command('writes', { ...writes, ...scope, off: true });
      for (const [name, what] of [
        ['pause', {}],
        ['resume', {}],
        ['mode', { mode: 'slow' }],
        ['limit', { limit: 5 }],
      ] as const) {
        const preview = await stage.command(name, { ...one(oliver), ...what, dry_run: true });
        const outcome = await stage.command(name, { ...one(oliver), ...what });
        expect(outcome).toEqual({ ...preview, messages: [...preview.messages, 'Nothing was done.'] });
        expect([preview.result, preview.messages.join()]).toEqual([
          'failed',
          expect.stringMatching(/^Writes are off for/),
        ]);
      }
      await stage.command('writes', { ...writes, off: false });
    }
    expect(await stage.command('pause', one('nobody@x.example'))).toEqual({
      result: 'invalid',
      messages: ['No guarded mailbox is called nobody@x.example.'],
    });
    expect(stage.posts).toEqual([]);
  });

  it('goes before what the guard has planned, and the guard leaves what the person set', async () => {
    await using stage = await begin(amelia);
    await stage.run(10 * minuteMs);
    await stage.until('the switch', () => stage.mailbox(amelia).memory?.claim?.kind === 'recovery', 4 * hourMs);
    expect((await stage.command('mode', { ...one(amelia), mode: 'slow' })).result).toBe('done');
    await stage.run(3 * hourMs);
    expect(made(stage)).toEqual([`${amelia} recovery`, `${amelia} slow`]);
    expect(stage.mailbox(amelia)).toMatchObject({ memory: { claim: null, mode: 'slow' } });
  });
});

describe('undo', () => {
  it('takes back what is still ours, and leaves what a person changed', async () => {
    await using stage = await begin(amelia, jonas, oliver);
    await stage.run(10 * minuteMs);
    const claims = () => [amelia, jonas].map((email) => stage.mailbox(email).memory?.claim?.kind);
    await stage.until('both acted upon', () => claims().every(Boolean), 8 * hourMs);
    const before = made(stage);
    const request = { since_seconds: 12 * 3_600 };
    const ofBoth = await stage.command('undo', { ...request, dry_run: true });
    expect(ofBoth.messages.join(' ')).toMatch(
      /Warmwarden acted because of this: \d+ bounces in \d+ emails .* Earlier bounces no longer/,
    );
    // Somebody takes amelia out of recovery in the app; we have not looked since.
    stage.simulator.fleet.setMode(amelia, 'slow');
    await stage.run(31 * minuteMs);
    const preview = await stage.command('undo', { ...request, dry_run: true });
    expect(preview.messages.join(' ')).toContain(`${amelia}: not changed`);
    expect(made(stage)).toEqual(before);
    const outdated = await stage.command('undo', { ...request, plan: ofBoth.plan ?? '' });
    expect([outdated.result, outdated.plan, made(stage)]).toEqual(['changed', preview.plan, before]);
    await stage.writes(true);
    const stopped = await stage.command('undo', { ...request, dry_run: true });
    expect([stopped.result, stopped.messages[0]]).toEqual(['failed', expect.stringMatching(/^Writes are off for all/)]);
    const refused = await stage.command('undo', request);
    expect(refused.messages.filter((message) => message === stopped.messages[0])).toHaveLength(1);
    expect(refused.messages.at(-1)).toBe(`0 of 1 mailbox restored. Not restored: ${jonas}.`);
    await stage.writes(false);
    const undone = await stage.command('undo', { ...request, plan: preview.plan ?? '' });
    expect(undone.result).toBe('done');
    const after = made(stage).slice(before.length);
    expect(after.every((post) => post.startsWith(jonas))).toBe(true);
    expect(after).toEqual([`${jonas} resume`]);
    expect(stage.mailbox(jonas)).toMatchObject({ memory: { claim: null, run: 'running' } });
    expect((await stage.command('undo', request)).messages[0]).toMatch(
      /^Nothing to undo: no change that Warmwarden made by itself since .* is still in force\.$/,
    );
  });
});

describe('what others change', () => {
  it('is seen, told with its looks, and a limit set by others ends our claim', async () => {
    await using stage = await begin(amelia);
    await stage.run(10 * minuteMs);
    await stage.until('the switch', () => stage.mailbox(amelia).memory?.claim?.kind === 'recovery', 4 * hourMs);
    // The cause beside the number: nothing else changed, and that is said.
    expect(stage.mailbox(amelia).action?.causes.join(' ')).toMatch(/bounce|Nothing that Warmwarden watches/);
    await stage.run(25 * hourMs);
    stage.simulator.fleet.configure(amelia, { targetDailyLimit: 12 });
    await stage.run(31 * minuteMs);
    const { memory, changes } = stage.mailbox(amelia);
    expect(changes.map(({ what, to }) => [what, to])).toEqual([['target_daily_limit', '12']]);
    expect(memory).toMatchObject({ claim: null, mode: 'recovery', reversals: [] });
    await stage.restart();
    expect(stage.mailbox(amelia).changes).toEqual(changes);
  });
});

describe('contest release', () => {
  it('ends a count toward a contest, and says "Nothing to release" where nothing counts, or no longer does', async () => {
    await using stage = await begin(amelia);
    await stage.run(10 * minuteMs);
    const nothing = {
      result: 'no_change',
      messages: [`Nothing to release: Warmwarden's changes on ${amelia} have not been reversed lately.`],
    };
    expect(await stage.command('contest-release', one(amelia))).toEqual(nothing);
    const claimed = () => stage.mailbox(amelia).memory?.claim != null;
    await stage.until('an action', claimed, 8 * hourMs);
    stage.simulator.fleet.setMode(amelia, 'slow');
    await stage.until('the reversal', () => !claimed(), hourMs);
    expect((await stage.command('contest-release', { ...one(amelia), dry_run: true })).messages[0]).toMatch(
      /is not contested: one change was reversed/,
    );
    await stage.awayUntil(stage.clock.now() + 25 * hourMs);
    expect(stage.mailbox(amelia).memory?.reversals).toHaveLength(1);
    expect(await stage.command('contest-release', one(amelia))).toEqual(nothing);
  });

  it('that ends the count says that nothing was contested, and ends it', async () => {
    await using stage = await begin(amelia);
    await stage.run(10 * minuteMs);
    const claimed = () => stage.mailbox(amelia).memory?.claim != null;
    await stage.until('an action', claimed, 8 * hourMs);
    stage.simulator.fleet.setMode(amelia, 'slow');
    await stage.until('the reversal', () => !claimed(), hourMs);
    const counted = await stage.command('contest-release', one(amelia));
    expect(counted).toMatchObject({ result: 'done', messages: [expect.stringMatching(/was not contested/)] });
    expect(stage.mailbox(amelia).memory?.reversals).toEqual([]);
    expect((await stage.command('contest-release', one(amelia))).result).toBe('no_change');
  });
});
