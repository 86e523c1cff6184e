// The one list of reasons why an account is not guarded. Readiness, heartbeat, metrics, page, `status` and the rule
// not_guarded all read it, so that none of them stays green while another is red.

import type { Fleet, Guarding } from './fleet/fleet.ts';
import type { AccountState, MailboxName, ReadFailure } from './mailbox.ts';
import { type EpochMs, elapsedMs, minuteMs } from './time.ts';
import { sentence } from './wording/explain.ts';
import type { Reading } from './wording/forecast.ts';
import { firstText, momentText, withoutFolders } from './wording/phrases.ts';
import { enforcementOff, writesAreOff } from './write-scope.ts';

/** Time after which an account without a mailbox list is no longer starting: nothing of it is polled until then. */
const listWithinMs = 3 * minuteMs;

const namesShown = 5;

/** Words for an API that answers, but not with the statistics or the warm-up that a judgement needs. */
export const noneJudged = 'no mailbox can be judged';

interface CauseEntry {
  readonly tone: 'alarm' | 'unknown';
  readonly isOwn: boolean;
  readonly badge: string | null;
}

/**
 * The causes, the worst first. tone: alarm if a person must act at once. isOwn: the API answers, so that warmwarden_api_up
 * says nothing; `/readyz` fails instead, the heartbeat stops and warmwarden_account_guarded is 0. badge: words
 * beside the account and its mailboxes, or null if only some of them, or none, are concerned.
 */
export const notGuardedCauses = {
  stopped: { tone: 'alarm', isOwn: true, badge: 'stopped' },
  'key rejected': { tone: 'unknown', isOwn: false, badge: 'key rejected' },
  'api down': { tone: 'unknown', isOwn: false, badge: 'API down' },
  'list unread': { tone: 'alarm', isOwn: true, badge: 'list unread' },
  'nothing judged': { tone: 'alarm', isOwn: true, badge: 'not judged' },
  'list unrecorded': { tone: 'alarm', isOwn: true, badge: null },
  'key read-only': { tone: 'alarm', isOwn: false, badge: 'read-only key' },
  'no mailbox': { tone: 'unknown', isOwn: false, badge: null },
  unlisted: { tone: 'unknown', isOwn: false, badge: null },
  starting: { tone: 'unknown', isOwn: true, badge: null },
  'list awaited': { tone: 'unknown', isOwn: false, badge: null },
} as const satisfies Record<string, CauseEntry>;

export type NotGuardedCause = keyof typeof notGuardedCauses;

export interface Trouble {
  readonly account: string;
  readonly cause: NotGuardedCause;
  /** Start of the cause, or null if it is not known. */
  readonly since: EpochMs | null;
  /** Words of the API or the store, or null if there are none. */
  readonly detail: string | null;
  /** `no mailbox can be judged (HTTP 403)`, without a full stop. */
  readonly why: string;
  /** `account acme is not guarded: no mailbox can be judged (HTTP 403)`, without a full stop. */
  readonly sentence: string;
  readonly advice: string;
}

type CauseFinding = Omit<Trouble, 'account' | 'cause' | 'sentence'> & { readonly text?: string };

/** Start and cause of a mailbox list that was never read although the API does not fail, or null. */
export function listUnreadOf(account: AccountState, now: EpochMs): ReadFailure | null {
  const { listed, failingSince, watchedSince, listFailing } = account;
  if (listed || failingSince !== null || elapsedMs(watchedSince, now) < listWithinMs) return null;
  return { since: watchedSince, detail: listFailing?.detail ?? 'the API has not answered it yet' };
}

/** `detail`: the last failure. An API that limits requests has no fault of its own. */
export function listUnreadAdvice(detail: string): string {
  return detail.includes('too many requests')
    ? 'Look for another tool that uses the same key.'
    : 'Ask the warm-up service why GET /v1/mailboxes fails.';
}

const askService = 'Ask the warm-up service what your plan and key allow.';

/** An account can have several causes at once; the outage of its API hides what only an answer can tell. */
function findings(state: AccountState, now: EpochMs): Partial<Record<NotGuardedCause, CauseFinding | null | false>> {
  const { failingSince, lastFailure, keyRejected, listed, keyWrites, unlisted } = state;
  const isDown = failingSince !== null;
  const down = { since: failingSince, detail: lastFailure, why: lastFailure ?? 'no request succeeds' };
  const listUnread = listUnreadOf(state, now);
  const unjudged = (!isDown && state.unjudged) || null;
  const unrecorded = state.listUnrecorded ?? null;
  const none = { since: null, detail: null };
  return {
    'key rejected': isDown && keyRejected ? { ...down, advice: 'Put a valid key into the configuration.' } : null,
    'api down': isDown && !keyRejected ? { ...down, advice: 'Check whether the API is up, and base_url.' } : null,
    'list unread': listUnread && {
      ...listUnread,
      why: `its mailbox list can't be read (${listUnread.detail})`,
      advice: listUnreadAdvice(listUnread.detail),
    },
    'nothing judged': unjudged && { ...unjudged, why: `${noneJudged} (${unjudged.detail})`, advice: askService },
    'list unrecorded': unrecorded && {
      ...unrecorded,
      why: `its mailbox list can't be recorded (${withoutFolders(unrecorded.detail)}). The log has the error`,
      advice: 'New mailboxes are not guarded. The log has the error.',
    },
    'key read-only': keyWrites === false && {
      ...none,
      why: 'the API key is read-only, NO ACTION on breaches',
      advice: 'Replace the key.',
    },
    // The list was read but no mailbox is selected: the configuration may be wrong.
    'no mailbox':
      listed && state.forecast?.mailboxes === 0
        ? {
            ...none,
            why: 'it has no guarded mailbox',
            advice: 'Check `include` and `exclude`, and what the key can see.',
          }
        : null,
    unlisted:
      unlisted.length > 0
        ? {
            ...none,
            why: `not in the mailbox list: ${firstText(unlisted, namesShown)}`,
            advice: 'Check the spelling in `include`, and what the key can see.',
          }
        : null,
    'list awaited':
      listed || isDown || listUnread
        ? null
        : { ...none, why: 'it is starting: its mailbox list has not been read yet', advice: 'Wait a moment.' },
  };
}

function loopFindings({
  account,
  startingSince,
  hasStopped,
}: Guarding): Partial<Record<NotGuardedCause, CauseFinding>> {
  if (startingSince === null) return {};
  const loop = { since: startingSince, detail: null };
  if (hasStopped) {
    const text = `account ${account} has stopped: it is not guarded until the next restart`;
    const why = 'it has stopped: restart Warmwarden; the log has the error';
    return { stopped: { ...loop, text, why, advice: 'Restart it.' } };
  }
  return {
    starting: { ...loop, text: `account ${account} is starting`, why: 'it is starting', advice: 'Wait a moment.' },
  };
}

/** Returns why accounts are not guarded, or not all of each, the worst cause first. */
export function notGuardedBy(fleet: Pick<Fleet, 'accounts' | 'guarding'>, now: EpochMs): readonly Trouble[] {
  const states = new Map([...fleet.accounts()].map((state) => [state.name, state]));
  const loops = new Map(fleet.guarding().map((guarding) => [guarding.account, guarding]));
  const found = [...new Set([...states.keys(), ...loops.keys()])].map((account) => {
    const [state, guarding] = [states.get(account), loops.get(account)];
    return { account, of: { ...(state && findings(state, now)), ...(guarding && loopFindings(guarding)) } };
  });
  return (Object.keys(notGuardedCauses) as NotGuardedCause[]).flatMap((cause) =>
    found.flatMap(({ account, of }) => {
      const finding = of[cause];
      // An account without its loops reads no list: one cause tells both.
      const isOfLoops = (cause === 'list awaited' || cause === 'list unread') && (of.stopped ?? of.starting);
      if (!finding || isOfLoops) return [];
      const { since, detail, advice, why, text = `account ${account} is not guarded: ${why}` } = finding;
      return [{ account, cause, since, detail, why, advice, sentence: text }];
    }),
  );
}

/** Words beside each account and its mailboxes: of the worst cause that concerns them all. */
export function accountBadges(troubles: readonly Pick<Trouble, 'account' | 'cause'>[]): ReadonlyMap<string, string> {
  const badges = new Map<string, string>();
  for (const { account, cause } of troubles) {
    const { badge } = notGuardedCauses[cause];
    if (badge !== null && !badges.has(account)) badges.set(account, badge);
  }
  return badges;
}

/**
 * `NOT GUARDED since 20 March 11:02 UTC. Account acme: Connection refused. Check whether the API is up.`, or null.
 * Of several causes the worst that concerns each mailbox of the account, before stale statistics of this mailbox; then a stop
 * of its changes, or enforcement that is off.
 */
export function notGuardedText(
  fleet: Pick<Fleet, 'accounts' | 'guarding' | 'staleAlert' | 'writesOffOver'>,
  mailbox: MailboxName,
  { now, zone, enforce }: Reading & { readonly enforce: boolean },
): string | null {
  const stop = fleet.writesOffOver(mailbox.account, mailbox.id, now);
  const why = stop ? writesAreOff(stop) : enforce ? null : enforcementOff;
  const stopped = why && `If it bounces, Warmwarden does nothing. ${why}`;
  return [unreadText(fleet, mailbox, { now, zone }), stopped].filter((one) => one !== null).join(' ') || null;
}

function unreadText(
  fleet: Pick<Fleet, 'accounts' | 'guarding' | 'staleAlert'>,
  mailbox: MailboxName,
  { now, zone }: Reading,
): string | null {
  const trouble = notGuardedBy(fleet, now).find(
    ({ account, cause }) => account === mailbox.account && notGuardedCauses[cause].badge !== null,
  );
  const not = (at: EpochMs | null) => `NOT GUARDED${at === null ? '' : ` since ${momentText(at, zone)}`}.`;
  if (trouble) return `${not(trouble.since)} Account ${trouble.account}: ${sentence(trouble.why)} ${trouble.advice}`;
  const stale = fleet.staleAlert(mailbox);
  return stale ? `${not(stale.since)} ${stale.facts.sentences.join(' ')}` : null;
}

/** Causes that `/readyz`, the heartbeat and warmwarden_account_guarded tell. */
export function ownTroubles(troubles: readonly Trouble[]): readonly Trouble[] {
  return troubles.filter(({ cause }) => notGuardedCauses[cause].isOwn);
}
