// What the routes are handed: the picture, the store's reads, and what answers commands.

import type { RecordedDecision } from '../core/decision.ts';
import type { DeliveryPlace, ListedDelivery, StoredTransition } from '../core/delivery.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { Verdict } from '../core/verdict.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { AccessParts } from './access.ts';
import type { FleetTrend } from './fleet-sums.ts';
import type { ExplainSource } from './json/explain-answer.ts';
import type { HistorySource } from './json/history-answer.ts';
import type { OperationsRouteParts, ReloadRouteParts } from './operations-route.ts';
import type { NearLimitPpmOf, Tags } from './overview/fleet-view.ts';
import type { ShownSetting } from './page/configuration-page.ts';
import type { Ranking } from './ranking.ts';
import type { RecipeRouteParts } from './recipes/recipe-routes.ts';

/** Whether the daemon is on duty. */
export interface Readiness {
  readonly ready: boolean;
  /** What is still missing, in words. */
  readonly reasons: readonly string[];
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
