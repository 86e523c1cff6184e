// Rules about Warmwarden itself: channels, configuration, store, crashes.
import { type Alert, type AlertChanges, fingerprintOf, noAccount } from '../../core/alert.ts';
import type { ChannelState } from '../../core/fleet/fleet.ts';
import { type IdlePattern, idleText } from '../../core/mailbox-pattern.ts';
import { type Loss, lossText, type StoreFailure, storeTitle } from '../../core/store-failure.ts';
import type { EpochMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { counted, momentText } from '../../core/wording/phrases.ts';
import { accountSubject, type Condition, condition, type RuleFinding, type Words } from '../condition.ts';
import { isReadByPeople, type RoutedChannel } from '../routing.ts';

// channel_failing

type ChannelHealth = Pick<ChannelState, 'name' | 'lastSuccessAt' | 'failingSince' | 'lastFailure'>;

/** No channel can have this name. */
export const heartbeatName = 'the heartbeat';

/** Includes the heartbeat and each removed channel that still has an alert. */
export function channelsFailing(
  channels: readonly ChannelHealth[],
  alerts: Iterable<Alert>,
  zone: string,
): readonly Condition[] {
  const names = new Set(channels.map(({ name }) => name));
  const gone = [...alerts].flatMap(({ rule, object }) =>
    rule === 'channel_failing' && object !== null && !names.has(object) ? object : [],
  );
  return [
    ...channels.map((one) =>
      channelCondition(one.name, {
        active: one.failingSince !== null || (one.lastSuccessAt === null ? 'unknown' : false),
        ...(one.failingSince !== null && { since: one.failingSince }),
        firing: () => failingWords(one, zone),
        ended: () => [`${titled(one.name)} ${one.name === heartbeatName ? 'gets through' : 'accepts messages'} again`],
      }),
    ),
    ...gone.map((name) =>
      channelCondition(name, { active: false, firing: () => [`${titled(name)} is no longer configured`] }),
    ),
  ];
}

function channelCondition(name: string, finding: RuleFinding): Condition {
  const numbers = () => ({ channel: name });
  return condition(accountSubject('channel_failing', noAccount, name), { numbers, ...finding });
}

function failingWords({ name, failingSince, lastFailure }: ChannelHealth, zone: string): Words {
  const since = momentText(failingSince ?? 0, zone);
  const why = sentence(lastFailure ?? 'The reason is unknown');
  if (name === heartbeatName)
    return [
      'the heartbeat does not get through',
      `The address in alerts.heartbeat has taken no ping since ${since}.`,
      why,
      'Until it does, no monitor tells you if Warmwarden goes down.',
      'Test it: `warmwarden channels test heartbeat`',
    ];
  return [
    `channel ${name} does not accept messages`,
    `The channel has accepted no message since ${since}.`,
    why,
    'Mailboxes stay guarded. Messages are retried for a day, and then listed on the page as undelivered.',
    `After a change, run \`warmwarden reload\`, then \`warmwarden channels test ${name}\`.`,
  ];
}

function titled(name: string): string {
  return name === heartbeatName ? name : `channel ${name}`;
}

/** Returns the moment since which no channel for people has accepted a message, or null if one does or none exists. */
export function unheardSince(channels: Iterable<RoutedChannel>, alerts: Iterable<Alert>): EpochMs | null {
  const failing = [...alerts].filter(({ rule, status }) => rule === 'channel_failing' && status === 'firing');
  const sinceOf = new Map(failing.map(({ object, since }) => [object, since]));
  const people = [...channels].filter((channel) => isReadByPeople(channel) && channel.type !== 'removed');
  const since = people.flatMap(({ name }) => sinceOf.get(name) ?? []);
  return people.length === 0 || since.length < people.length ? null : Math.max(...since);
}

// config_wrong

const linesShown = 5;

export function idleSubject(account: string) {
  return accountSubject('config_wrong', account, 'patterns');
}

/** Fires after two lists in a row; a further pattern makes it worse. `idle` is null if the mailboxes are unknown. */
export function configMatchesNothing(
  account: string,
  idle: readonly IdlePattern[] | null,
  alert: Alert | undefined,
): Condition {
  const all = idle ?? [];
  const shown = all.slice(0, linesShown);
  const whose = account === noAccount ? 'routes' : account;
  // The sentences show a few patterns only. A place is no identity: it moves when an earlier line of the file goes away.
  const known = new Set(String(alert?.facts.numbers['idle_patterns'] ?? '').split('\n'));
  return condition(idleSubject(account), {
    active: idle === null ? 'unknown' : idle.length > 0,
    observations: 2,
    worse: all.some(({ pattern }) => !known.has(pattern)),
    firing: () => [
      `${whose}: ${counted(all.length, 'pattern')} of the configuration match${all.length === 1 ? 'es' : ''} no mailbox`,
      ...shown.map((one) => `${idleText(one)}.`),
      all.length > linesShown &&
        `${counted(all.length - linesShown, 'more pattern')}: \`warmwarden doctor\` lists them all.`,
      account === noAccount
        ? 'No alert about a mailbox takes such a route.'
        : 'An exclude that matches nothing leaves its mailboxes guarded, and an override changes none.',
      'Correct the pattern, or remove it, and run `warmwarden reload`.',
    ],
    ended: () => [`${whose}: no pattern of the configuration is without a mailbox`],
    numbers: () => ({ patterns: all.length, idle_patterns: all.map(({ pattern }) => pattern).join('\n') }),
  });
}

/** `problems` are sentences without secrets, empty if the newest configuration is in force. */
export function configReloadFailed(problems: readonly string[]): Condition {
  const more = problems.length - linesShown;
  return condition(accountSubject('config_wrong', noAccount, 'reload'), {
    active: problems.length > 0,
    firing: () => [
      'the new configuration was refused',
      ...problems.slice(0, linesShown),
      more > 0 && `${counted(more, 'more problem')}: \`warmwarden check\` lists them all.`,
      'The previous configuration stays in force. Correct the file, then run `warmwarden reload`.',
    ],
    ended: () => ['the newest configuration is in force'],
    numbers: () => ({ problems: problems.length }),
  });
}

// crashed

const crashSubject = accountSubject('crashed', noAccount);

export const crashFingerprint = fingerprintOf(crashSubject);

export interface Crash {
  readonly at: EpochMs;
  /** Part of a sentence, such as `account acme: its request loop ended with an error`. */
  readonly why: string;
}

/** `crash` is null once a process has run for a while. */
export function crashed(crash: Crash | null, zone: string): Condition {
  return condition(crashSubject, {
    active: crash !== null,
    firing: () => [
      'Warmwarden crashed, and runs again',
      crash && `It crashed on ${momentText(crash.at, zone)}: ${crash.why}.`,
      'It guarded no mailbox until its restart, and lost nothing. The page names any account that is still NOT GUARDED. The log has the error: please report it.',
    ],
    ended: () => ['Warmwarden runs again'],
  });
}

// store_failing

const storeSubject = accountSubject('store_failing', noAccount);

export const storeFingerprint = fingerprintOf(storeSubject);

/** `failure` is null if the store works; `loss` is what the working store lacked. */
export function storeFailing(failure: StoreFailure | null, loss: Loss | null = null): Condition {
  return condition(storeSubject, {
    active: failure !== null,
    firing: () => [
      storeTitle,
      failure && sentence(failure.said),
      'Warmwarden takes NO ACTION while it cannot record. Other alerts may not be sent either.',
      failure?.remedy,
    ],
    ended: () => [
      'the store works again',
      (loss?.stops ?? 0) === 0
        ? 'Warmwarden guards, records its decisions and acts on them again.'
        : 'Warmwarden guards and records its decisions again. It does not act where a write stop is in force.',
      loss && lossText(loss),
    ],
  });
}

/** Returns the end of a failure together with its beginning, which could not be recorded at the time. */
export function withBeginning(end: AlertChanges, begunAt: EpochMs): AlertChanges {
  const beginnings = end.transitions.map((transition) => ({ ...transition, kind: 'firing' as const, at: begunAt }));
  return { ...end, transitions: [...beginnings, ...end.transitions] };
}
