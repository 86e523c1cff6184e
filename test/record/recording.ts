// A recorder of an account on a real store, with the picture that it shows: what answers become, without an API.
import { join } from 'node:path';
import { GroupCommit, Turns } from '../../src/account/commit/group-commit.ts';
import type { Observation } from '../../src/account/record/observe.ts';
import { Recorder } from '../../src/account/record/recorder.ts';
import type { MailboxRoute } from '../../src/api/poll/poll.ts';
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import type { MailboxState } from '../../src/core/mailbox.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { noTally } from '../../src/core/records.ts';
import { utcDate } from '../../src/core/time.ts';
import { Store } from '../../src/store/store.ts';
import { movedClock } from '../../tools/simulator/moved-clock.ts';
import { usualAccount } from '../account/duty.ts';
import { row, warmupAnswer } from '../guard/samples.ts';
import { arrivedMailbox, emptyList, now } from '../store/records.ts';
import { newFolder } from '../support/new-folder.ts';
import { silentWorld } from '../support/silent-world.ts';
import { expectNoSleepers } from '../support/sleepers.ts';

const account = 'acme';

/** A recorder of an account whose mailboxes nothing was read of, or that an earlier process left in the file. */
export async function recording(ids: readonly string[], file = join(newFolder(), 'warmwarden.db')) {
  const clock = movedClock(now);
  const store = await Store.open(file, now, { clock });
  const { mailboxes } = await store.loadPicture();
  const present = mailboxes.length > 0 ? mailboxes : ids.map((id) => arrivedMailbox(id));
  const world = silentWorld(clock);
  const fleet = new Fleet();
  if (mailboxes.length === 0) await store.recordList({ ...emptyList, account, present });
  for (const mailbox of present) fleet.putMailbox(mailbox);
  const turns = new Turns(clock);
  const group = new GroupCommit({ world, store, fleet, turns });
  const recorder = new Recorder(
    { world, store, fleet, tally: noTally, turns, group, onTransitions: () => {} },
    {
      account,
      policyFor: () => defaultPolicy,
      ...usualAccount,
      selects: () => true,
      rules: () => defaultRuleSettings,
      api: 'https://api.example',
      accountsOfApi: () => [account],
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
    recorder,
    store,
    fleet,
    group,
    file,
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

const shown = { status: 'active', dailyLimit: 40, warmupDay: 12, healthScore: 98.5 };
const record = { status: 'pass', pass: true, record: 'v' };
const checked = { domain: 'one.example', checkedAt: null };

/** Statistics of today. */
export function statsOfToday(sent: number, bounced = 0): Observation {
  const rows = [{ ...row(utcDate(now), sent, bounced), delivered: sent - bounced }];
  return { route: 'stats', observed: { at: now, answer: { rows } } };
}

/** A calm answer of each route; `at` is when it came. */
export function answerOf(route: MailboxRoute, at: number): Observation {
  switch (route) {
    case 'stats':
      return { route, observed: { at, answer: { rows: [] } } };
    case 'warmup':
      return { route, observed: { at, answer: { ...warmupAnswer('balanced', 'active', 40), ...shown } } };
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
