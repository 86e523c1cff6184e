// The notify loop: one loop that makes deliveries, and one a channel that sends them.
import type { Fleet } from '../fleet/fleet.ts';
import type { ResendRequest } from '../model/delivery.ts';
import type { HandOutcome } from '../model/hand.ts';
import type { Tally } from '../model/tally.ts';
import { type Bell, createBell, type World } from '../world.ts';
import type { Channel } from './channel.ts';
import { Collector, type NotifySettings } from './collector.ts';
import type { OutboxStore } from './outbox-store.ts';
import { Sender } from './sender.ts';

export interface NotifierParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
  readonly tally: Tally;
  readonly channels: readonly Channel[];
  readonly settings: NotifySettings;
  /** Base of the links in messages; null when there is no page. */
  readonly pageUrl: string | null;
}

export interface Notifier {
  /** Begins to send, also what an earlier process left. Once only. */
  start(): void;
  /** Ends after the attempts under way, at most 10 s of real time. What was not sent stays in the outbox. */
  stop(): Promise<void>;
  /** Transitions were committed. Cheap; call it after every commit that has any. */
  wake(): void;
  /**
   * Other channels and settings from now on. A channel that is the same object goes on undisturbed; one that is gone
   * or another one ends after the attempt under way. What waits in the outbox under its name is sent by its successor.
   */
  reconfigure(channels: readonly Channel[], settings: NotifySettings): Promise<void>;
  /** A person wants what was given up to be sent once more, as it was. */
  resend(request: ResendRequest): Promise<HandOutcome>;
}

/** A loop that can be woken and ended. */
interface Loop {
  readonly name: string;
  readonly bell: Bell;
  stopping: boolean;
}

/** A channel with the loop that sends through it. */
interface SendingLoop {
  readonly channel: Channel;
  readonly sender: Sender;
  readonly loop: Loop;
  readonly ended: Promise<void>;
}

/** After a failure of the store. */
const storeRetryMs = 5_000;

export function createNotifier(parts: NotifierParts): Notifier {
  const { world, store, fleet, pageUrl } = parts;
  const { clock } = world;
  const collecting: Loop = { name: 'transitions', bell: createBell(clock), stopping: false };
  const inForce = { channels: parts.channels, settings: parts.settings };
  let senders: readonly SendingLoop[] = [];
  const collector = new Collector({
    clock,
    log: world.log,
    store,
    get channels() {
      return inForce.channels;
    },
    get settings() {
      return inForce.settings;
    },
    fleet,
    pageUrl,
    recorded: () => senders.forEach(({ loop }) => void loop.bell.ring()),
  });
  const begin = (channel: Channel): SendingLoop => {
    const sender = new Sender(channel, { ...parts, hasTold: (alert) => collector.hasTold(channel.name, alert) });
    const loop = { name: channel.name, bell: createBell(clock), stopping: false };
    return { channel, sender, loop, ended: run(loop, world, () => sender.step()) };
  };
  const end = async (loops: readonly SendingLoop[]) => {
    for (const { loop } of loops) stop(loop);
    await Promise.all(loops.map(({ ended, channel }) => ended.then(() => channel.close?.())));
  };
  let collected: Promise<unknown> = Promise.resolve();

  return {
    start: () => {
      collected = Promise.all([showForeign(parts, inForce.channels), run(collecting, world, () => collector.step())]);
      senders = inForce.channels.map(begin);
    },
    stop: async () => {
      stop(collecting);
      await Promise.all([collected, end(senders)]);
    },
    wake: () => {
      collector.noticed();
      collecting.bell.ring();
    },
    reconfigure: async (channels, settings) => {
      const gone = senders.filter(({ channel }) => !channels.includes(channel));
      await end(gone);
      Object.assign(inForce, { channels, settings });
      senders = channels.map((channel) => senders.find((sending) => sending.channel === channel) ?? begin(channel));
      for (const { channel } of gone)
        if (!channels.some(({ name }) => name === channel.name)) fleet.removeChannel(channel.name);
      await showForeign(parts, channels);
      collecting.bell.ring();
    },
    resend: async (request) => {
      const { channel: wanted } = request;
      const names = inForce.channels.map(({ name }) => name);
      if (wanted !== null && !names.includes(wanted)) {
        return { done: false, said: [`No channel is called ${wanted}: there are ${names.join(', ') || 'none'}.`] };
      }
      const counts = await store.resendDeliveries(request, clock.now());
      for (const { channel, sender, loop } of senders) {
        if (!counts.some(({ channel: name }) => name === channel.name)) continue;
        sender.revive();
        loop.bell.ring();
      }
      const said = counts.map(({ channel, count }) => `${channel}: ${count} sent again.`);
      return { done: true, said: said.length > 0 ? said : ['Nothing was given up: there is nothing to send again.'] };
    },
  };
}

function stop(loop: Loop): void {
  loop.stopping = true;
  loop.bell.ring();
}

/** Takes steps until it is stopped. Each says how long to wait for the next. Never rejects. */
async function run(loop: Loop, { clock, log }: World, step: () => Promise<number>): Promise<void> {
  let failing = false;
  while (!loop.stopping) {
    let wait = storeRetryMs;
    try {
      wait = await clock.busy(step);
      if (failing) log.info({ loop: loop.name }, 'Telling goes on.');
      failing = false;
    } catch (error) {
      if (!failing) log.error({ loop: loop.name, err: error }, 'Telling failed; it is tried again every few seconds.');
      failing = true;
    }
    if (!loop.stopping && wait > 0) await loop.bell.sleep(wait);
  }
}

/** Messages for a channel that is no longer configured stay in the outbox: somebody must see them. */
async function showForeign({ world, store, fleet }: NotifierParts, channels: readonly Channel[]): Promise<void> {
  const counts = await world.clock.busy(() => store.outboxState(world.clock.now())).catch(() => []);
  for (const { channel: name, pending, oldestPendingAt } of counts) {
    if (channels.some((channel) => channel.name === name)) continue;
    if (pending === 0) continue;
    const nothing = { givenUp: 0, lastSuccessAt: null, failingSince: null, lastFailure: null };
    fleet.putChannel({ name, type: 'removed', pending, oldestPendingAt, ...nothing });
    world.log.warn({ channel: name, pending }, 'Messages wait for a channel that is not configured.');
  }
}
