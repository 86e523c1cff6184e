// A recorder of an account on a real store, with the picture that it shows: what answers become, without an API.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GroupCommit, Turns } from '../../src/account/commit/group-commit.ts';
import type { Observation } from '../../src/account/record/observe.ts';
import { Recorder } from '../../src/account/record/recorder.ts';
import type { MailboxRoute } from '../../src/api/poll/poll.ts';
import type { StatsRow, WarmupAnswer } from '../../src/core/answers.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy, type Policy } from '../../src/core/policy.ts';
import { defaultRuleSettings } from '../../src/core/rule-settings.ts';
import { utcDate } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { worldOn } from '../../src/world/world.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { arrivedMailbox, now } from '../store/records.ts';
import { expectNoSleepers } from '../support/sleepers.ts';

/** A recorder on a store in a file of its own. */
export async function recording(ids: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'warmwarden-recording-'));
  const file = join(folder, 'warmwarden.db');
  const store = await Store.open(file, now);
  const mailboxes = ids.map((id) => arrivedMailbox(id));
  const stage = await recordingOn(store, { account: 'acme', accountsOfApi: ['acme'], mailboxes });
  return {
    ...stage,
    file,
    async [Symbol.asyncDispose](): Promise<void> {
      await stage[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Given {
  readonly account: string;
  /** Those under the same API. */
  readonly accountsOfApi: readonly string[];
  readonly mailboxes: readonly MailboxState[];
}

/** A recorder of an account whose mailboxes nothing was read of. It closes the store at its end. */
async function recordingOn(store: Store, { account, accountsOfApi, mailboxes: present }: Given) {
  const clock = movedClock(now);
  const world = worldOn(clock, { level: 'silent', format: 'json' });
  const fleet = new Fleet();
  const noAlerts = { changed: [], dropped: [], transitions: [] };
  await store.recordList({
    account,
    present,
    absent: [],
    left: [],
    leftAt: now,
    alerts: noAlerts,
    breaker: null,
  });
  for (const mailbox of present) fleet.putMailbox(mailbox);
  const tally = { decision: () => {}, action: () => {}, notification: () => {}, request: () => {} };
  const turns = new Turns(clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  let policy = defaultPolicy;
  const recorder = new Recorder(
    { world, store, fleet, tally, turns, group, onTransitions: () => {} },
    {
      account,
      policyFor: () => policy,
      selects: () => true,
      expects: () => [],
      patterns: () => ({ ofAccount: [], ofRoutes: [], accounts: [] }),
      words: { paused: ['paused'], running: ['active'], notRunning: ['finished'] },
      rules: () => defaultRuleSettings,
      api: 'https://api.example',
      accountsOfApi: () => accountsOfApi,
      others: { tookFrom: () => {}, askLists: () => {} },
      ended: () => false,
      keyWrites: () => null,
      staleBefore: () => Number.NEGATIVE_INFINITY,
      staleMeasurement: () => ({ olderThanMs: Number.POSITIVE_INFINITY, unreadSince: Number.NEGATIVE_INFINITY }),
      isFirstLook: () => false,
      seenAgain: () => true,
    },
  );
  const stored = async (id: string) => {
    await group.flush();
    return (await store.loadPicture()).mailboxes.find((one) => one.id === id);
  };
  return {
    clock,
    world,
    turns,
    tally,
    recorder,
    store,
    fleet,
    group,
    /** From now on this is the policy of all mailboxes. */
    reload: (reloaded: Policy) => {
      policy = reloaded;
    },
    /** As it is shown. */
    mailbox: (id: string): MailboxState | undefined => fleet.mailbox(account, id),
    /** As a process that starts after an orderly end would find it. */
    stored,
    /** Takes in an answer that was just asked for. */
    answered: (id: string, observation: Observation) => recorder.observed(id, observation, recorder.asking()),
    async [Symbol.asyncDispose](): Promise<void> {
      await group.stop();
      await store.close();
      expectNoSleepers(clock);
    },
  };
}

const config = {
  targetDailyLimit: 40,
  replyRate: null,
  threadRate: null,
  weekdaysOnly: null,
  sendWindowStart: null,
  sendWindowEnd: null,
};
const shown = { status: 'active', dailyLimit: 40, warmupDay: 12, healthScore: 98.5 };
const warmup = (mode: string): WarmupAnswer => ({ ...shown, mode, config, recentBounces: [] });
const record = { status: 'pass', pass: true, record: 'v' };
const checked = { domain: 'one.example', checkedAt: null };

/** Statistics of today. */
export function statsOfToday(sent: number, bounced = 0): Observation {
  const row: StatsRow = {
    date: utcDate(now),
    sent,
    bounced,
    delivered: sent - bounced,
    opened: null,
    replied: null,
    spamLanded: null,
    healthScore: null,
    inboxRatePercent: null,
    bounceRatePercent: null,
  };
  return { route: 'stats', observed: { at: now, answer: { rows: [row] } } };
}

/** A calm answer of each route; `at` is when it came. */
export function answerOf(route: MailboxRoute, at: number): Observation {
  switch (route) {
    case 'stats':
      return { route, observed: { at, answer: { rows: [] } } };
    case 'warmup':
      return { route, observed: { at, answer: warmup('balanced') } };
    case 'mailbox':
      return { route, observed: { at, answer: { ...shown, connection: 'connected', connectionError: null } } };
    case 'dns':
      return { route, observed: { at, answer: { ...checked, records: { spf: record, dkim: record, dmarc: record } } } };
    case 'blacklist':
      return {
        route,
        observed: { at, answer: { ...checked, ip: null, listed: false, lists: [], found: 0, checked: 9 } },
      };
  }
}
