// What every operator command works with.

import type { Turns } from '../account/commit/turns.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { RuleSettings } from '../core/rule-settings.ts';
import type { Store } from '../store/store.ts';
import type { World } from '../world/world.ts';

export interface CommandRooms {
  readonly fleet: Fleet;
  readonly store: Store;
  readonly world: World;
  readonly turns: Turns;
  /** Called after a commit that people may be notified of. */
  readonly onTransitions: () => void;
  /** The settings of the alert rules in force. */
  readonly rules: () => RuleSettings;
  /** Base of the links in messages; null when there is no page. */
  readonly pageUrl: string | null;
}
