// Dependencies of the routes: the fleet, reads of the store, and command handlers.

import type { Action } from '../core/action.ts';
import type { DeliveryPlace, ListedDelivery, StoredTransition } from '../core/delivery.ts';
import type { Network } from '../core/egress.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { CommandEntry, Operate } from '../core/operator-command.ts';
import type { Policy } from '../core/policy.ts';
import type { HistoryQuery, MailboxEntries } from '../core/records.ts';
import type { EpochMs, MuteTime } from '../core/time.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { World } from '../world/world.ts';
import type { Auth } from './access/auth.ts';
import type { RecipeRouteParts } from './recipes/recipe-routes.ts';

export interface AccessParts {
  readonly world: World;
  readonly host: string;
  readonly auth: () => Auth;
  readonly trustedProxies: () => readonly Network[];
  readonly allowedHosts: () => readonly string[];
  readonly publicUrl: string | null;
  /** Prefix of the paths in the browser, for example `/warmwarden`, or empty. */
  readonly pathPrefix: string;
  /** Secret that signs the sessions of browsers. */
  readonly sessionKey: string;
}

export type PolicyOf = (mailbox: MailboxState) => Policy;

export interface Readiness {
  readonly ready: boolean;
  readonly reasons: readonly string[];
}

/** A transition is null if it concerns no mailbox that the visitor may see. */
export type SeenTransition = StoredTransition | { readonly id: number; readonly transition: null };

export interface RouteParts extends AccessParts {
  /** Set for a visitor who sees only a part of the fleet: what open routes read here has nothing but that part. */
  readonly isLimited?: true;
  readonly operate: () => Operate | null;
  readonly fleet: Fleet;
  readonly metrics: Metrics;
  readonly ready: () => Readiness;
  readonly history: {
    commands(query: HistoryQuery<number>): Promise<readonly CommandEntry[]>;
    guardActions(query: HistoryQuery<string>): Promise<readonly Action[]>;
  };
  readonly entries: {
    entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<MailboxEntries>;
  };
  /**
   * Transitions of alerts, newest first; null for one that the visitor may not see. `before`: returns only those before the
   * transition with this number.
   */
  readonly transitions: (limit: number, before?: number) => Promise<readonly SeenTransition[]>;
  readonly deliveries: (limit: number, before?: DeliveryPlace) => Promise<readonly ListedDelivery[]>;
  readonly policyOf: PolicyOf;
  readonly timeZone: () => string;
  readonly muteTimes: () => readonly MuteTime[];
  readonly recipes: RecipeRouteParts;
  readonly version: string;
}

/** Reads from the store, or returns null if that fails: the page must work during an outage of the store. */
export async function orNull<Read>(world: World, read: () => Promise<Read>): Promise<Read | null> {
  try {
    return await read();
  } catch (error) {
    world.log.error({ err: error }, 'history could not be read for a page');
    return null;
  }
}
