// channel_failing: messages do not get through. Routing announces it through the other channels.
import { type Alert, noAccount } from '../../core/alert.ts';
import { defaultRuleSettings } from '../../core/rule-settings.ts';
import type { EpochMs } from '../../core/time.ts';
import { sentence } from '../../core/wording/explain.ts';
import { momentText } from '../../core/wording/phrases.ts';
import type { Condition } from '../condition.ts';
import { isForPeople } from '../routing.ts';

/** Fields of a channel that this rule reads. */
export interface ChannelHealth {
  readonly name: string;
  readonly lastSuccessAt: EpochMs | null;
  /** Moment since which no send has succeeded, or null if sends succeed or none was tried. */
  readonly failingSince: EpochMs | null;
  readonly lastFailure: string | null;
}

const settings = defaultRuleSettings.of.channel_failing;

/** Input of the sentences: the command line that starts this program, and the zone for times. */
interface MessageContext {
  readonly command: string;
  readonly zone: string;
}

/** Name under which the heartbeat is watched. No channel can have it. */
export const heartbeatName = 'the heartbeat';

/** Returns the conditions of every channel, of the heartbeat, and of each removed channel that still has an alert. */
export function channelsFailing(
  channels: Iterable<ChannelHealth>,
  alerts: Iterable<Alert>,
  { command, zone }: MessageContext,
): readonly Condition[] {
  const conditions = new Map(
    [...channels].map((channel) => [channel.name, channelFailing(channel, { command, zone })]),
  );
  for (const { rule, object } of alerts) {
    if (rule !== 'channel_failing' || object === null || conditions.has(object)) continue;
    conditions.set(object, conditionOf(object, { active: false, title: `${namedIn(object)} is no longer configured` }));
  }
  return [...conditions.values()];
}

/**
 * Returns the moment since which no channel for people has accepted a message, according to the alerts, or null if one
 * does or there is none.
 */
export function unheardSince(
  channels: Iterable<{ readonly name: string; readonly type: string }>,
  alerts: Iterable<Alert>,
): EpochMs | null {
  const failing = new Map(
    [...alerts]
      .filter(({ rule, status }) => rule === 'channel_failing' && status === 'firing')
      .map((one) => [one.object, one.since]),
  );
  const since = [...channels]
    .filter((channel) => isForPeople(channel) && channel.type !== 'removed')
    .map(({ name }) => failing.get(name) ?? null);
  return since.length === 0 || since.includes(null) ? null : Math.max(...since.map((at) => at ?? 0));
}

function channelFailing(
  { name, failingSince, lastFailure, lastSuccessAt }: ChannelHealth,
  { command, zone }: MessageContext,
): Condition {
  const isHeartbeat = name === heartbeatName;
  if (failingSince === null) {
    const title = `${namedIn(name)} ${isHeartbeat ? 'gets through' : 'accepts messages'} again`;
    return conditionOf(name, { active: lastSuccessAt === null ? 'unknown' : false, title });
  }
  const why = sentence(lastFailure ?? 'The reason is unknown');
  if (isHeartbeat) {
    const title = 'the heartbeat does not get through';
    const sentences = [
      `The address in alerts.heartbeat has taken no ping since ${momentText(failingSince, zone)}.`,
      why,
      'While it takes none, you are not notified when Warmwarden ends.',
      `Test it: \`${command} channels test heartbeat\``,
    ];
    return { ...conditionOf(name, { active: true, title, sentences }), since: failingSince };
  }
  const sentences = [
    `The channel has accepted no message since ${momentText(failingSince, zone)}.`,
    why,
    'Warmwarden keeps the messages in its outbox and sends them when the channel works again. The page lists those that stay undelivered.',
    `Test the channel: \`${command} channels test ${name}\``,
  ];
  const title = `channel ${name} does not accept messages`;
  return { ...conditionOf(name, { active: true, title, sentences }), since: failingSince };
}

function namedIn(name: string): string {
  return name === heartbeatName ? name : `channel ${name}`;
}

function conditionOf(
  name: string,
  now: { active: Condition['active']; title: string; sentences?: readonly string[] },
): Condition {
  return {
    subject: { rule: 'channel_failing', account: noAccount, mailboxId: null, email: null, object: name },
    severity: settings.severity,
    active: now.active,
    forMs: settings.forMs,
    observations: 1,
    clearObservations: 1,
    facts: { title: now.title, sentences: now.sentences ?? [], numbers: { channel: name } },
  };
}
