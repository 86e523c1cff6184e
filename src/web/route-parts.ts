// What the routes are handed: the picture, the store's reads, and what answers commands.

import type { Action } from '../core/action.ts';
import type { Change } from '../core/change.ts';
import type { RecordedDecision } from '../core/decision.ts';
import type { DeliveryPlace, ListedDelivery, StoredTransition } from '../core/delivery.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { CommandEntry } from '../core/operator-command.ts';
import type { EpochMs } from '../core/time.ts';
import type { Reason, Verdict } from '../core/verdict.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { AccessParts } from './access.ts';
import type { OperationsRouteParts, ReloadRouteParts } from './json/operations.ts';
import type { FleetTrend } from './overview/fleet-sums.ts';
import type { NearLimitPpmOf, Tags } from './overview/fleet-view.ts';
import type { Ranking } from './overview/ranking.ts';
import type { ShownSetting } from './overview/settings.ts';
import type { RecipeRouteParts } from './recipes/recipe-routes.ts';

/** Whether the daemon is on duty. */
export interface Readiness {
  readonly ready: boolean;
  /** What is still missing, in words. */
  readonly reasons: readonly string[];
}

/** Store of the audit log. */
export interface HistorySource {
  commands(query: HistoryQuery<number>): Promise<readonly CommandEntry[]>;
  guardActions(query: HistoryQuery<string>): Promise<readonly Action[]>;
}

/** Rows that come behind one: of an earlier moment, or of the same with a lower id. */
export interface Before<Id> {
  readonly at: EpochMs;
  readonly id: Id;
}

interface HistoryQuery<Id> {
  readonly since: EpochMs;
  /** Where the page before ended; null, or absent: from the newest on. */
  readonly before?: Before<Id> | null;
  readonly mailbox: { readonly account: string; readonly ids: readonly string[] } | null;
  readonly by?: string | null;
  readonly operation?: string | null;
  readonly reason?: Reason | null;
  readonly limit: number;
}

/** Store of the entries. Each list has the newest first. */
export interface ExplainSource {
  entriesOf(mailbox: MailboxState, until: EpochMs, limit: number): Promise<Entries>;
}

export interface Entries {
  readonly decisions: readonly RecordedDecision[];
  readonly actions: readonly Action[];
  readonly changes: readonly Change[];
}

export interface RouteParts extends AccessParts, ReloadRouteParts, OperationsRouteParts {
  readonly fleet: Fleet;
  readonly metrics: Metrics;
  readonly ready: () => Readiness;
  /** The newest first. */
  readonly decisions: (account: string, id: string, limit: number) => Promise<readonly RecordedDecision[]>;
  readonly history: HistorySource;
  readonly entries: ExplainSource;
  /** The steps of alerts, the newest first; `before`: only those behind the one with this number. */
  readonly transitions: (limit: number, before?: number) => Promise<readonly StoredTransition[]>;
  /** The newest first. */
  readonly deliveries: (limit: number, before?: DeliveryPlace) => Promise<readonly ListedDelivery[]>;
  readonly explain: (verdict: Verdict) => string;
  readonly nearLimitPpmOf: NearLimitPpmOf;
  /** In which sentences give times, as those of the alerts do: an IANA name. */
  readonly timeZone: () => string;
  readonly ranking: Pick<Ranking, 'read'>;
  /** Of the configuration in force, without secrets. */
  readonly settings: () => readonly ShownSetting[];
  readonly tags: Tags;
  readonly trend: FleetTrend;
  readonly recipes: RecipeRouteParts;
  /** Of this program. */
  readonly version: string;
}

export const noSuchMailbox = 'Warmwarden does not guard a mailbox with this id.';
