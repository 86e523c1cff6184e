// The tables, as Kysely sees them. Times are epoch milliseconds; JSON columns hold model types as text.
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
    /** When its departure was confirmed; null while it is here. */
    left_at: number | null;
    /** GuardMemory. */
    memory: string | null;
  };
  /** The newest answer of each route. */
  observations: { account: string; mailbox_id: string; route: string; observed_at: number; answer: string };
  /** Spans: consecutive verdicts that decided the same. */
  decisions: {
    id: Generated<number>;
    account: string;
    mailbox_id: string;
    since: number;
    until: number;
    judged: number;
    action: string;
    reason: string;
    /** The newest. */
    verdict: string;
    /** DecisionDay[] that the newest rests on. */
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
  /** What others changed. */
  changes: { id: Generated<number>; account: string; mailbox_id: string; at: number; change: string };
  /** The audit log: who asked for what, when and why, and what came of it. */
  operator_commands: {
    id: Generated<number>;
    at: number;
    by: string;
    /** The operation. */
    name: string;
    /** In words. */
    command: string;
    /** The account that it is about; null: several, or all. */
    account: string | null;
    reason: string;
    /** null while it is under way. */
    result: string | null;
    ended_at: number | null;
    outcome: string;
  };
  /** The mailboxes that a command names. */
  command_mailboxes: { command_id: number; account: string; mailbox_id: string; email: string };
  /** By the key of its scope: what people switched off. */
  writes_off: { scope: string; off: string };
  /** By base_url: the state without its entries. */
  breakers: { api: string; head: string };
  /** The mailboxes that a breaker counts or holds, in the order of their places. */
  breaker_entries: { api: string; key: string; place: number; entry: string };
  alerts: { fingerprint: string; account: string; mailbox_id: string | null; status: string; alert: string };
  announcements: { fingerprint: string; announcement: string };
  notified_groups: { group_name: string; notified_at: number };
  /** `ended_at` is null while it goes on. */
  incidents: { id: string; began_at: number; ended_at: number | null; incident: string };
  silences: { id: string; until: number; silence: string };
  /** Browsers that signed in, by the SHA-256 of their cookie. */
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
  /** Runs of recipes. `run` is null when it was pruned. */
  runs: {
    id: string;
    recipe: string;
    created_at: number;
    ended: number;
    run: string | null;
    /** Whose room it takes: who asked for it; null when it was pruned. */
    owner: string | null;
    /** How much room, with its rows; 0 when it was pruned. */
    bytes: Generated<number>;
  };
  /** Rows of a run: `count` of them from `first_row` on, as a JSON array. */
  run_rows: { run_id: string; first_row: number; count: number; rows: string };
}

/** A connection to the store, or a transaction in it. */
export type Db = Kysely<Tables>;

/** An address as its index has it: the database makes only the letters of ASCII small. */
export const address = 'lower("email")';
export const addressColumn = sql<string>`${sql.raw(address)}`;

/** The decisions of mailboxes that are called held. Written out: only then a query may use the index. */
export const heldReason = "reason IN ('first_sight', 'circuit_breaker')";
export const isHeld = sql<boolean>`${sql.raw(heldReason)}`;
