// The notify loop: one loop that makes deliveries, and one a channel that sends them.
import type { Fleet } from '../fleet/fleet.ts';
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
}

/** After a failure of the store. */
const storeRetryMs = 5_000;

export function createNotifier(parts: NotifierParts): Notifier {
  const { world, store, settings, channels, fleet, pageUrl } = parts;
  const { clock } = world;
  const collecting = createBell(clock);
  const senders = channels.map((channel) => ({ sender: new Sender(channel, parts), bell: createBell(clock) }));
  const recorded = () => senders.forEach(({ bell }) => void bell.ring());
  const collector = new Collector({
    clock,
    log: world.log,
    store,
    channels,
    settings,
    fleet,
    pageUrl,
    recorded,
  });
  let stopping = false;
  let loops: Promise<unknown> = Promise.resolve();

  const loop = async (name: string, bell: Bell, step: () => Promise<number>) => {
    let failing = false;
    while (!stopping) {
      let wait = storeRetryMs;
      try {
        wait = await clock.busy(step);
        if (failing) world.log.info({ loop: name }, 'Telling goes on.');
        failing = false;
      } catch (error) {
        if (!failing)
          world.log.error({ loop: name, err: error }, 'Telling failed; it is tried again every few seconds.');
        failing = true;
      }
      if (!stopping && wait > 0) await bell.sleep(wait);
    }
  };

  return {
    start: () => {
      loops = Promise.all([
        showForeign(parts),
        loop('transitions', collecting, () => collector.step()),
        ...senders.map(({ sender, bell }, index) =>
          loop(channels[index]?.name ?? 'channel', bell, () => sender.step()),
        ),
      ]);
    },
    stop: async () => {
      stopping = true;
      collecting.ring();
      recorded();
      await loops;
    },
    wake: () => {
      collector.noticed();
      collecting.ring();
    },
  };
}

/** Messages for a channel that is no longer configured stay in the outbox: somebody must see them. */
async function showForeign({ world, store, fleet, channels }: NotifierParts): Promise<void> {
  const counts = await world.clock.busy(() => store.outboxState()).catch(() => []);
  for (const { channel: name, pending, oldestPendingAt } of counts) {
    if (channels.some((channel) => channel.name === name)) continue;
    fleet.putChannel({ name, type: 'removed', pending, oldestPendingAt, lastSuccessAt: null, lastFailure: null });
    world.log.warn({ channel: name, pending }, 'Messages wait for a channel that is not configured.');
  }
}
