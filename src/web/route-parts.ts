// What the routes are handed: the picture, the store's reads, and what answers commands.

import type { Action } from '../core/action.ts';
import type { Change } from '../core/change.ts';
import type { RecordedDecision } from '../core/decision.ts';
import type { DeliveryPlace, ListedDelivery, StoredTransition } from '../core/delivery.ts';
import type { Network } from '../core/egress.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import type { MailboxState } from '../core/mailbox.ts';
import type { CommandEntry, CommandOutcome, DaemonCommands, ReloadRequest } from '../core/operator-command.ts';
import type { Policy } from '../core/policy.ts';
import type { EpochMs } from '../core/time.ts';
import type { Reason, Verdict } from '../core/verdict.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { World } from '../world/world.ts';
import type { Auth } from './access/auth.ts';
import type { SessionSource } from './access/sessions.ts';
import type { FleetTrend } from './overview/trend.ts';
import type { RecipeRouteParts } from './recipes/recipe-routes.ts';

export interface AccessParts {
  readonly world: World;
  /** Where the server listens. */
  readonly host: string;
  /** In force at present: a reload may change it. */
  readonly auth: () => Auth;
  /** In force at present. */
  readonly trustedProxies: () => readonly Network[];
  /** Current names from `server.allowed_hosts`. */
  readonly allowedHosts: () => readonly string[];
  /** The configured address of the page; null: none. */
  readonly publicUrl: string | null;
  /** In front of the paths that a browser asks for: `/warmwarden`, or nothing. */
  readonly pathPrefix: string;
  readonly sessions: SessionSource;
}

/** The part of a policy that a mailbox is ranked by. */
export type RankingPolicy = Pick<Policy, 'nearLimitPpm' | 'enforce'>;

export type PolicyOf = (mailbox: MailboxState) => RankingPolicy;

/** The words that people gave mailboxes. */
export interface Tags {
  readonly all: () => readonly string[];
  readonly of: (mailbox: MailboxState) => readonly string[];
}

/** A setting as people read it. */
export interface ShownSetting {
  /** `guard.min_bounces`, `accounts[0].name`. */
  readonly name: string;
  /** As the file would write it; a secret is hidden. */
  readonly value: string;
  /** `default`, `line 12`. */
  readonly from: string;
}

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

export interface RouteParts extends AccessParts {
  /** null while the daemon is starting. */
  readonly commands: () => DaemonCommands | null;
  readonly reload: (request: ReloadRequest) => Promise<CommandOutcome>;
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
  /** Policy in force. */
  readonly policyOf: PolicyOf;
  /** In which sentences give times, as those of the alerts do: an IANA name. */
  readonly timeZone: () => string;
  /** Of the configuration in force, without secrets. */
  readonly settings: () => readonly ShownSetting[];
  readonly tags: Tags;
  readonly trend: FleetTrend;
  readonly recipes: RecipeRouteParts;
  /** Of this program. */
  readonly version: string;
}

export const noSuchMailbox = 'Warmwarden does not guard a mailbox with this id.';
