// Stores that earlier versions wrote (stores/README.md): everything in them is there, and this version carries on from it.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { dayMs, hourMs, minuteMs } from '../../src/model/time.ts';
import { demoKey } from '../../src/simulator/keys.ts';
import { scenarioStart, scenarios } from '../../src/simulator/scenarios.ts';
import { Ledger } from '../../src/store/ledger.ts';
import { Store } from '../../src/store/store.ts';
import { type MovedOptions, startMovedDaemon } from '../scenario/moved-daemon.ts';
import { amelia, jonas, oliver } from '../watch/duty.ts';

const sofia = 'sofia.lindqvist@fernhill.example';
/** She had left. */
const claire = 'claire.dubois@harborlight.example';
const written = join(import.meta.dirname, 'stores', 'ecf77d0.db');
/** All that is done while on duty, with nothing that is old. */
async function keepSmall(store: Store): Promise<void> {
  const forever = 1e6 * dayMs;
  const retention = {
    ...{ decisionsMs: forever, deliveriesMs: forever, changesMs: forever },
    ...{ observationsMs: forever, runsMs: forever, departedMs: forever },
  };
  for (const duty of store.upkeep.duties({ now: killedAt, retention, channels: [] })) while (await duty.step());
}

/** The moment of the kill, with the POST of Jonas's pause on its way. */
const killedAt = Date.UTC(2026, 2, 10, 12, 40, 1, 334);
const runs = { succeeded: '0mmkg89f30001iiiiiiiiiiii', underWay: '0mmkll3jq0002iiiiiiiiiiii' };

function copied(file = written): string {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-earlier-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'warmwarden.db');
  copyFileSync(file, path);
  return path;
}

describe('the store that ecf77d0 wrote', () => {
  test('is opened with everything in it', async () => {
    const path = copied();
    const store = await Store.open(path, killedAt);
    const picture = await store.loadPicture();
    expect(
      picture.mailboxes.map(({ email, action }) => [email, action?.kind, action?.state, action?.by?.name]),
    ).toEqual([
      [jonas, 'pause', 'open', undefined],
      [amelia, 'recovery', 'confirmed', undefined],
      [oliver, 'pause', 'confirmed', 'ann'],
      [sofia, undefined, undefined, undefined],
    ]);
    expect(picture.mailboxes.every(({ warmup, stats, memory, verdict }) => warmup && stats && memory && verdict)).toBe(
      true,
    );
    expect(picture.mailboxes[1]?.memory?.claim).toMatchObject({ kind: 'recovery', previousMode: 'balanced' });
    expect(picture.mailboxes[3]?.changes.map(({ what }) => what)).toEqual([
      'mode',
      'target_daily_limit',
      'dkim',
      'dkim_record',
    ]);
    expect(picture.alerts.map(({ rule, status }) => `${rule} ${status}`)).toEqual([
      'mailbox_missing firing',
      'dns_failing firing',
      'channel_failing firing',
      'channel_failing firing',
      'bounce_near_limit firing',
    ]);
    expect(picture.writesOff).toMatchObject([
      { by: 'bob', reason: 'the API answers strangely', until: null, scope: { kind: 'everything' } },
      {
        ...{ by: 'bob', reason: 'a campaign', until: killedAt + 48 * hourMs },
        scope: { kind: 'mailbox', account: 'agency', email: oliver },
      },
    ]);
    const asked = (await store.audit.commands({ since: 0, mailbox: null, limit: 10 })).toReversed();
    expect(asked.map(({ by, command, end }) => [by, command.split(':')[0], end])).toEqual([
      ['ann', 'pause', 'unknown'],
      ['ann', 'silence tbohkri0', 'unknown'],
      ['bob', 'writes off', 'unknown'],
      ['bob', 'writes off', 'unknown'],
    ]);
    expect(picture.silences).toMatchObject([{ match: { rule: ['blacklisted'] }, by: 'ann' }]);
    expect(picture.breakers[0]?.state.entries).toMatchObject([{ email: jonas }]);
    expect(await store.departed('agency', [{ id: 'another', email: claire.toUpperCase() }])).toMatchObject([
      { email: claire, memory: { mode: 'balanced' } },
    ]);
    for (const channel of ['hook', 'ops']) {
      expect(
        (await store.outbox.pendingDeliveries(channel, 10)).map(({ sequence, attempts }) => [sequence, attempts]),
      ).toEqual([
        [3, 12],
        [4, 11],
      ]);
    }
    expect((await store.outbox.loadNotificationLog()).announcements).toHaveLength(5);
    expect(await store.outbox.unnotifiedTransitions(10)).toEqual([]);
    expect((await store.confirmedSince(0)).map(({ email, by }) => [email, by?.name])).toEqual([
      [oliver, 'ann'],
      [amelia, undefined],
    ]);
    expect(await store.runs.read(runs.succeeded)).toMatchObject({ status: 'succeeded', rowCount: 4 });
    expect(await store.runs.chunks(runs.succeeded, 0, 10)).toMatchObject([{ firstRow: 0, count: 4 }]);
    expect((await store.runs.unended()).map(({ id }) => id)).toEqual([runs.underWay]);
    await store.close();
    const ledger = Ledger.open(path);
    const first = (await ledger.mailboxes()).find(({ email }) => email === amelia);
    const entries = first && (await ledger.entriesOf(first, killedAt, 100));
    expect([entries?.decisions.length, entries?.actions.length]).toEqual([8, 1]);
    await ledger.close();
  });

  /** What the API took while the other process lived, and what it took of the last POST, whose answer was lost. */
  const before: MovedOptions['before'] = async (simulator, clock) => {
    await clock.advance(killedAt - scenarioStart);
    const slower = (mode: string) => ({ action: 'update_config', config: { warmup_mode: mode } });
    const pause = { action: 'pause' };
    const changes: Record<string, object> = {
      [amelia]: slower('recovery'),
      [jonas]: pause,
      [oliver]: pause,
      [sofia]: slower('slow'),
    };
    for (const { id, email } of simulator.fleet.mailboxes()) {
      if (!(email in changes)) continue;
      const body = JSON.stringify({ mailbox_id: id, ...changes[email] });
      const headers = { authorization: `Bearer ${demoKey}`, 'content-type': 'application/json' };
      const answer = await fetch(`${simulator.url}/v1/warmup`, { method: 'POST', body, headers });
      expect(answer.status).toBe(200);
    }
    await clock.advance(minuteMs);
  };

  test('is carried on from: the intent, the messages, the silence, the emergency stop, the runs, who had left', async () => {
    const storm = scenarios['bounce-storm'];
    const fleet = storm.fleet.filter(({ email }) => [amelia, jonas, oliver, sofia, claire].includes(email));
    const incidents = storm.incidents.map((one) => (one.kind === 'listing' ? { ...one, from: 2 * hourMs } : one));
    const sha256 = createHash('sha256').update('ww_operator').digest('hex');
    const poll = { health: '0 * * * *', stats: '*/10 * * * *', warmup: '*/30 * * * *', blacklist: '*/15 * * * *' };
    const file = { recipes: { api_keys: [{ name: 'boss', sha256, plan: 'agency', role: 'operator' }] } };
    await using stage = await startMovedDaemon({
      scenario: { ...storm, fleet, incidents },
      poll,
      file,
      store: written,
      before,
    });
    await stage.until(
      'the intent to be settled',
      () => stage.mailbox(jonas).action?.state === 'confirmed',
      5 * minuteMs,
    );
    await stage.until('the last message', () => stage.notified('dns_failing').length > 0, 20 * minuteMs);
    // Nothing twice: Amelia's recovery was sent before.
    const notified = stage.receiver.alerts().map(({ rule, mailbox, status }) => `${rule} ${mailbox} ${status}`);
    const once = ['dns_failing null firing', 'channel_failing null firing', `guard_acted ${jonas} event`];
    expect(notified.filter((one) => once.includes(one) || one.startsWith('guard_acted')).sort()).toEqual(once.sort());
    // The other channel is no longer configured: its messages stay, and are shown.
    expect([...stage.fleet().channels()].find(({ name }) => name === 'ops')).toMatchObject({ pending: 2 });
    const runOf = async (id: string) => {
      const answer = await fetch(`${stage.url()}/v1/runs/${id}`, { headers: { authorization: 'Bearer ww_operator' } });
      return (await answer.json()) as { status: string; rows: readonly object[] };
    };
    expect([(await runOf(runs.succeeded)).rows.length, (await runOf(runs.underWay)).status]).toEqual([4, 'failed']);
    expect(stage.mailbox(claire).memory?.firstSeenAt).toBeLessThan(killedAt);
    const listed = () => [...stage.fleet().alerts()].some(({ rule }) => rule === 'blacklisted');
    await stage.until('the listing that the silence is about', listed, 2 * hourMs);
    await stage.run(2 * minuteMs);
    expect(stage.notified('blacklisted')).toEqual([]);
    expect(stage.fleet().writesAllowed('agency', null, stage.clock.now())).toBe(false);
    // No version before told of it.
    expect(stage.notified('writes_off')).toContain('firing');
    expect(stage.posts).toEqual([]);
  });
});

describe('the store that c1f150d wrote', () => {
  const before = join(import.meta.dirname, 'stores', 'c1f150d.db');
  const writtenAt = Date.UTC(2026, 2, 11, 17, 30);

  /** Of each mailbox how many decisions there are, how many answers they stand for, and what was decided, as it changed. */
  async function decisionsIn(store: Store) {
    const { mailboxes } = await store.loadPicture();
    const notified = mailboxes.map(async ({ account, id, email, verdict }) => {
      const decisions = (await store.decisionsOf(account, id, 1_000)).toReversed();
      const words = decisions.map((one) => `${one.verdict.action} ${one.verdict.reason} ${one.verdict.bounced}`);
      return {
        // Null and absent mean the same of a burst.
        verdict: verdict && { ...verdict, answer: { ...verdict.answer, burst: verdict.answer.burst ?? null } },
        ...{ email, since: decisions[0]?.since, until: decisions.at(-1)?.until },
        answers: decisions.reduce((sum, { count }) => sum + count, 0),
        story: words.filter((one, index) => one !== words[index - 1]),
        first: decisions[0]?.firstSent,
        rows: decisions.length,
      };
    });
    return Promise.all(notified);
  }

  test('is opened with everything in it, and its decisions are folded without a loss', async () => {
    const path = copied(before);
    const store = await Store.open(path, writtenAt);
    const { mailboxes, actions } = await store.loadPicture();
    expect(mailboxes.map(({ email, memory }) => [email, memory?.claim?.kind])).toEqual([
      [jonas, 'pause'],
      [amelia, 'recovery'],
      [oliver, undefined],
      [sofia, undefined],
    ]);
    expect(actions.map(({ kind, state }) => [kind, state])).toHaveLength(3);
    const unfolded = await decisionsIn(store);
    expect(unfolded.map(({ rows }) => rows)).toEqual([8, 10, 12, 65]);
    await keepSmall(store);
    const folded = await decisionsIn(store);
    const story = (all: typeof folded) => all.map(({ rows, ...rest }) => rest);
    expect(story(folded)).toEqual(story(unfolded));
    // Of 33 hours, in which two days began.
    expect(folded.map(({ rows }) => rows)).toEqual([7, 5, 3, 2]);
    await store.close();
  });
});
