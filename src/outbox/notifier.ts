// The notify loops: one that makes deliveries, one for each channel that sends them, and those of the digests, the
// heartbeat and the channels' own health.

import { tune } from '../alerts/condition.ts';
import { channelsFailing, heartbeatName } from '../alerts/rules/daemon-rules.ts';
import { messagesSilenced } from '../alerts/rules/protection-rule.ts';
import type { Channel } from '../channels/channel.ts';
import { longestOf } from '../channels/post.ts';
import { noAccount } from '../core/alert.ts';
import type { RuleSettings } from '../core/alert-rules.ts';
import type { WhichUndelivered } from '../core/delivery.ts';
import type { Tally } from '../core/records.ts';
import type { StoredOutbox } from '../store/outbox.ts';
import type { Loop, Loops } from '../world/loop.ts';
import { type ReceiverState, undeliveredSince, untried } from './channel-outbox.ts';
import { Collector, type NotifySettings } from './collector.ts';
import { Digester, type DigestSettings } from './digest.ts';
import { Heartbeat, type HeartbeatSettings } from './heartbeat.ts';
import { type NotifyParts, type RecordingParts, recordConditions } from './outbox-store.ts';
import { Sender, type SenderParts } from './sender.ts';
import { StoreHealth, StoreWatch } from './store-watch.ts';

export interface NotifierSettings extends NotifySettings {
  readonly rules: RuleSettings;
  readonly digests: readonly DigestSettings[];
  readonly heartbeat: HeartbeatSettings | null;
}

export interface NotifierParts extends NotifyParts {
  readonly loops: Loops;
  readonly tally: Tally;
  readonly health?: StoreHealth;
  /** True if an attempt that begins now ends before another process can take the lease. Absent without a lease. */
  readonly maySend?: () => boolean;
  /** See SenderParts. */
  readonly alwaysMs?: number;
  readonly channels: readonly Channel[];
  readonly settings: NotifierSettings;
  readonly pageUrl: string | null;
  readonly apiOf: (account: string) => string | null;
}

export interface Notifier {
  start(): void;
  /** Ends after the attempts in progress, at most 10 s of real time. Unsent messages stay in the outbox. */
  stop(): Promise<void>;
  wake(): void;
  /** Numbers of alerts and incidents that wait for the end of a mute time, by channel. */
  waiting(): ReadonlyMap<string, number>;
  /** A channel that is the same object goes on; a replaced one ends after the attempt in progress. */
  reconfigure(channels: readonly Channel[], settings: NotifierSettings): Promise<void>;
  readonly undelivered: {
    channels(): readonly string[];
    find(which: WhichUndelivered): ReturnType<StoredOutbox['undelivered']>;
    resend(ids: readonly string[]): ReturnType<StoredOutbox['resendDeliveries']>;
  };
}

interface Sending {
  readonly channel: Channel;
  readonly sender: Sender;
  readonly loop: Loop;
}

export function createNotifier(parts: NotifierParts): Notifier {
  const { loops, store, fleet } = parts;
  const inForce = { channels: parts.channels, settings: parts.settings };
  let sendings: readonly Sending[] = [];
  const recorded = () => {
    for (const { loop } of sendings) loop.ring();
  };
  const channels = () => inForce.channels;
  const collector = new Collector({ ...parts, channels, settings: () => inForce.settings, recorded });
  const wake = () => {
    collector.noticed();
    collecting.ring();
  };
  const begin = (channel: Channel) =>
    beginSending(channel, {
      ...parts,
      hasNotified: (alert) => [collector, storeWatch].some((one) => one.hasNotified(channel.name, alert)),
      shown: (alert) => collector.shownTo(channel.name, alert),
    });
  const digester = new Digester({ ...parts, channels, settings: () => inForce.settings, recorded });
  const heartbeat = new Heartbeat({ ...parts, settings: () => inForce.settings.heartbeat });
  const health = parts.health ?? new StoreHealth(parts);
  const own = { ...parts, health, channels, settings: () => inForce.settings, recorded: wake };
  const storeWatch = new StoreWatch(own);
  const watching = loops.create('watching the store', () => storeWatch.step());
  // The first failure is examined and announced at once; later ones at the next look.
  health.onFailure(() => {
    if (!fleet.storeFailure) watching.ring();
  });
  const collecting = loops.create('composing messages', () => collector.step());
  const all = [
    collecting,
    loops.create('sending the digests', () => digester.step()),
    loops.create('sending the heartbeat', () => heartbeat.step()),
    loops.every(everyMs, 'watching the channels', () => watchChannels(own, heartbeat.pings)),
    loops.every(everyMs, 'watching the silences', () => watchSilences(own)),
    watching,
  ];

  return {
    start: () => {
      void showForeign(parts, inForce.channels);
      for (const loop of all) loop.start();
      sendings = inForce.channels.map(begin);
    },
    stop: async () => {
      storeWatch.end();
      heartbeat.end();
      await Promise.all([...all.map((loop) => loop.stop()), end(sendings)]);
    },
    wake,
    waiting: () => collector.waiting(),
    reconfigure: async (wanted, settings) => {
      const gone = sendings.filter(({ channel }) => !wanted.includes(channel));
      await end(gone);
      Object.assign(inForce, { channels: wanted, settings });
      sendings = wanted.map((channel) => sendings.find((sending) => sending.channel === channel) ?? begin(channel));
      for (const { channel } of gone)
        if (!wanted.some(({ name }) => name === channel.name)) fleet.removeChannel(channel.name);
      await showForeign(parts, wanted);
      collector.noticed();
      for (const loop of all) loop.ring();
    },
    undelivered: {
      channels: () => channels().map(({ name }) => name),
      find: (which) => store.outbox.undelivered(which),
      resend: (ids) => resend(ids, sendings, parts),
    },
  };
}

function beginSending(channel: Channel, parts: SenderParts & Pick<NotifierParts, 'loops'>): Sending {
  const sender = new Sender(channel, parts);
  const loop = parts.loops.create(`sending to the channel ${channel.name}`, () => sender.step(), longestOf(channel));
  loop.start();
  return { channel, sender, loop };
}

async function end(sendings: readonly Sending[]): Promise<void> {
  for (const { sender } of sendings) sender.end();
  await Promise.all(sendings.map(({ loop, channel }) => loop.stop().then(() => channel.close?.())));
}

async function resend(ids: readonly string[], sendings: readonly Sending[], { store, world }: NotifierParts) {
  const counts = await store.outbox.resendDeliveries(ids, world.clock.now());
  for (const { channel, sender, loop } of sendings) {
    if (!counts.some(({ channel: name }) => name === channel.name)) continue;
    sender.revive();
    loop.ring();
  }
  return counts;
}

/** Shows messages for a channel that is no longer configured: they stay in the outbox, and people must see them. */
async function showForeign({ world, store, fleet }: NotifierParts, channels: readonly Channel[]): Promise<void> {
  const counts = await world.clock
    .busy(() => store.outbox.outboxState(undeliveredSince(world.clock.now())))
    .catch(() => []);
  for (const { channel: name, ...counted } of counts) {
    if (channels.some((channel) => channel.name === name)) continue;
    fleet.putChannel({ name, type: 'removed', ...counted, ...untried });
    const { pending, undelivered } = counted;
    const what = pending > 0 ? 'Messages wait' : 'Messages are undelivered';
    world.log.warn({ channel: name, pending, undelivered }, `${what} for a channel that is no longer configured.`);
  }
}

// A channel that accepts nothing for a while is an alert, sent through the others.

interface ChannelWatchParts extends RecordingParts {
  readonly settings: () => { readonly rules: RuleSettings };
}

const everyMs = 30_000;

async function watchChannels(parts: ChannelWatchParts, heartbeat: ReceiverState | null): Promise<void> {
  const { world, fleet, channels, settings } = parts;
  // A channel of a process that has just started may have no state yet: an alert about it continues.
  const known = channels().map(({ name }) => fleet.channel(name) ?? { name, ...untried });
  const states = [...known, ...(heartbeat ? [{ name: heartbeatName, ...heartbeat }] : [])];
  const { rules } = settings();
  // A wrong password or key is not an outage that may pass, so its alert does not wait.
  const refused = new Set(states.filter(({ refusesSetup }) => refusesSetup).map(({ name }) => name));
  const tuned = tune(channelsFailing(states, fleet.alertsOf(noAccount), rules.timeZone), rules);
  const conditions = tuned.map((one) => (refused.has(one.subject.object ?? '') ? { ...one, forMs: 0 } : one));
  await recordConditions(parts, conditions, world.clock.now());
}

async function watchSilences(parts: ChannelWatchParts): Promise<void> {
  const { world, fleet, settings } = parts;
  const { rules } = settings();
  const accounts = [...fleet.accountNames()].map((name) => ({ name, tags: fleet.tags.ofAccount(name) }));
  // At the start no account is known yet, and a silence of one client would cover all of none.
  if (accounts.length === 0) return;
  const words = { zone: rules.timeZone, accounts };
  const now = world.clock.now();
  await recordConditions(
    parts,
    tune(messagesSilenced(fleet.silences(now), fleet.alertsOf(noAccount), words), rules),
    now,
  );
}
