// What the parts of the notifier are given.

import type { Channel } from '../channels/channel.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { World } from '../world.ts';
import type { OutboxStore } from './outbox-store.ts';

export interface NotifyParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
}

/** Of a part that records something for channels. */
export interface RecordingParts extends NotifyParts {
  /** Configured at that moment. */
  readonly channels: () => readonly Channel[];
  /** Called after something was recorded; `critical`: names of the channels that get a critical alert by it. */
  readonly recorded: (critical?: ReadonlySet<string>) => void;
}
