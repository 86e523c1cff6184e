// Types of the tables for Kysely. Times are epoch milliseconds; JSON columns hold model types as text.
import { type Generated, type Kysely, sql } from 'kysely';

export interface Tables {
  meta: { key: string; value: string };
  ledgers: { account: string; ledger: string };
  mailboxes: {
    account: string;
    mailbox_id: string;
    email: string;
    first_seen_at: number;
    missing_lists: number;
    /** Time at which the departure was confirmed, or null while the mailbox is present. */
    left_at: number | null;
    /** JSON: GuardMemory. */
    memory: string | null;
  };
  /** The newest answer of each route. */
  observations: { account: string; mailbox_id: string; route: string; observed_at: number; answer: string };
  /** Spans: consecutive verdicts with the same decision. */
  decisions: {
    id: Generated<number>;
    account: string;
    mailbox_id: string;
    since: number;
    until: number;
    judged: number;
    action: string;
    reason: string;
    /** JSON: the newest verdict of the span. */
    verdict: string;
    /** JSON: DecisionDay[] that the newest verdict rests on. */
    days: string;
    /** Emails in the window at `since`. */
    first_sent: number;
    first_days: string;
  };
  actions: {
    id: string;
    account: string;
    mailbox_id: string;
    state: string;
    planned_at: number;
    action: string;
  };
  /** Changes that others made. */
  changes: { id: Generated<number>; account: string; mailbox_id: string; at: number; change: string };
  /** The audit log: commands with requester, time, reason and outcome. */
  operator_commands: {
    id: Generated<number>;
    at: number;
    by: string;
    /** Operation. */
    name: string;
    /** Command in words. */
    command: string;
    /** Account of the command, or null for several or all. */
    account: string | null;
    reason: string;
    /** Result, or null while the command runs. */
    result: string | null;
    ended_at: number | null;
    outcome: string;
  };
  /** The mailboxes that a command names. */
  command_mailboxes: { command_id: number; account: string; mailbox_id: string; email: string };
  /** Emergency stops by people, by the key of their scope. */
  writes_off: { scope: string; off: string };
  /** State of each breaker without its entries, by base_url. */
  breakers: { api: string; head: string };
  /** Mailboxes that a breaker counts or holds, in the order of `place`. */
  breaker_entries: { api: string; key: string; place: number; entry: string };
  alerts: { fingerprint: string; account: string; mailbox_id: string | null; status: string; alert: string };
  announcements: { fingerprint: string; announcement: string };
  notified_groups: { group_name: string; notified_at: number };
  /** Incidents. `ended_at` is null for an open one. */
  incidents: { id: string; began_at: number; ended_at: number | null; incident: string };
  silences: { id: string; until: number; silence: string };
  /** Signed-in browsers, by the SHA-256 of their cookie. */
  sessions: { id: string; token: string; started_at: number; used_at: number };
  transitions: { id: Generated<number>; at: number; transition: string; notified: number };
  deliveries: {
    id: string;
    channel: string;
    group_name: string;
    sequence: number;
    payload: string;
    title: string;
    state: string;
    attempts: number;
    created_at: number;
    next_attempt_at: number;
    settled_at: number | null;
    detail: string | null;
    /** JSON: fingerprints. */
    alerts: string;
    begun_at: number | null;
    receipt: string | null;
  };
  /** Runs of recipes. `run` is null for a pruned run. */
  runs: {
    id: string;
    recipe: string;
    created_at: number;
    ended: number;
    run: string | null;
    /** Requester, whose limit the run counts against, or null for a pruned run. */
    owner: string | null;
    /** Size of the run with its rows, or 0 for a pruned run. */
    bytes: Generated<number>;
  };
  /** Rows of a run: `count` of them from `first_row` on, as a JSON array. */
  run_rows: { run_id: string; first_row: number; count: number; rows: string };
}

/** A connection to the store, or a transaction in it. */
export type Db = Kysely<Tables>;

/** An address in the form of its index: the database lowercases only ASCII letters. */
export const address = 'lower("email")';
export const addressColumn = sql<string>`${sql.raw(address)}`;

/**
 * Decisions whose mailboxes are shown as held. The list is written out, because a query can use the index only then.
 */
export const heldReason = "reason IN ('first_sight', 'circuit_breaker')";
export const isHeld = sql<boolean>`${sql.raw(heldReason)}`;
