import { type ChannelSettings, createChannel } from '../../src/channels/channels.ts';
import { Fleet } from '../../src/core/fleet/fleet.ts';
import { noTally } from '../../src/core/records.ts';
import { dayMs, type MuteTime, weekdays } from '../../src/core/time.ts';
import { createNotifier } from '../../src/outbox/notifier.ts';
import type { OutboxStore } from '../../src/outbox/outbox-store.ts';
import { Store } from '../../src/store/store.ts';
import { Loops } from '../../src/world/loop.ts';
import { systemClock } from '../../src/world/world.ts';
import { silentWorld } from '../support/silent-world.ts';
import { quietSettings } from './sample-delivery.ts';

type Reached = (step: string) => void;

/** Each method call, also of its outbox, is two steps: before it begins, and when its promise has resolved. */
function stepped<Part extends object>(part: Part, name: string, reached: Reached): Part {
  return new Proxy(part, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key, target);
      if (key === 'outbox') return stepped(value as object, name, reached);
      if (typeof value !== 'function' || key === 'render' || key === 'close') return value;
      return async (...args: readonly unknown[]) => {
        reached(`before ${name}.${String(key)}`);
        const result: unknown = await Reflect.apply(value, target, args);
        reached(`after ${name}.${String(key)}`);
        return result;
      };
    },
  });
}

const always: MuteTime = {
  ...{ name: 'always', timeZone: 'UTC' },
  weekly: [{ days: weekdays, fromMs: 0, untilMs: dayMs }],
};

/** Resolves when nothing waits any more: all of it was sent or given up, or is muted. `night`: a mute time that is on, or over. */
export async function sendAll(
  path: string,
  settings: ChannelSettings,
  reached: Reached,
  night: 'muted' | 'over' | '' = '',
): Promise<void> {
  const clock = systemClock();
  const world = silentWorld(clock, () => 0);
  const channel = createChannel(settings, { world, pageUrl: null, publicUrl: null, timeZone: () => 'UTC' });
  const store = await Store.open(path, clock.now());
  const outbox: OutboxStore = store;
  const fleet = new Fleet();
  if (night !== '') for (const alert of (await store.loadPicture()).alerts) fleet.putAlert(alert);
  const notifier = createNotifier({
    world,
    loops: new Loops(world),
    store: stepped(outbox, 'store', reached),
    fleet,
    tally: noTally,
    channels: [stepped(channel, 'channel', reached)],
    settings: {
      ...quietSettings,
      muteTimes: night === 'muted' ? [always] : [],
      routes: [{ match: {}, channels: [channel.name], mute: ['always'], muteCritical: true }],
    },
    pageUrl: null,
    apiOf: () => null,
  });
  notifier.start();
  const settled = async () => {
    const deliveries = await store.outbox.recentDeliveries(10);
    if (night === 'muted') return (await store.outbox.loadNotificationLog()).muted.length > 0;
    return deliveries.length > 0 && deliveries.every(({ settledAt }) => settledAt !== null);
  };
  while (!(await settled())) await clock.sleep(10);
  await notifier.stop();
  await store.close();
}
