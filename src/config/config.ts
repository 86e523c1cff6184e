// The configuration as the program sees it: checked, resolved, with units in the names. load.ts makes it from a file.

import type { Severity } from '../core/alert.ts';
import type { DnsWords } from '../core/answers.ts';
import type { Egress, Network } from '../core/egress.ts';
import type { Policy, Ppm, WarmupMode } from '../core/policy.ts';
import type { RuleSettings } from '../core/rule-settings.ts';
import type { Retention, StorePlace } from '../core/store-failure.ts';

export interface Config {
  /** At least one; names are unique. */
  readonly accounts: readonly AccountConfig[];
  readonly poll: PollConfig;
  readonly alerts: AlertsConfig;
  /** Paths are absolute. */
  readonly store: StorePlace;
  readonly server: ServerConfig;
  readonly api: { readonly statusWords: StatusWords; readonly dnsWords: DnsWords };
  readonly log: {
    readonly level: 'silent' | 'error' | 'warn' | 'info' | 'debug';
    readonly format: 'json' | 'pretty';
  };
  readonly metrics: { readonly mailboxLabel: 'email' | 'id'; readonly seriesLimit: number };
  readonly recipes: RecipesConfig;
  readonly retention: Retention;
}

export interface AccountConfig {
  readonly name: string;
  /** Without a slash at its end and without /v1. */
  readonly baseUrl: string;
  /** Secret: never to be logged or shown. */
  readonly apiKey: string;
  readonly egress: Egress;
  readonly requestsPerMinute: number;
  /** Share of the rate limit that Warmwarden leaves to your other tools. */
  /** null: `auto`. */
  readonly headroomPpm: Ppm | null;
  /** Globs on the email, or ids; `selects` in mailbox-rules.ts reads them. */
  readonly mailboxes: { readonly include: readonly string[]; readonly exclude: readonly string[] };
  /** What the file says under `guard:`; `resolvePolicy` in mailbox-rules.ts makes a mailbox's Policy of it. */
  readonly guard: GuardSettings;
  /** For people: the page groups and finds mailboxes by them. */
  readonly tags: readonly string[];
  /** In the file's order: all that match apply, later ones win. */
  readonly overrides: readonly GuardOverride[];
}

export interface GuardOverride {
  /** A glob on the email, or an id. */
  readonly match: string;
  /** Beside those of the account. */
  readonly tags: readonly string[];
  readonly guard: GuardSettings;
}

/** Only the keys that somebody wrote: a profile must not beat them, a default must not pose as one of them. */
export interface GuardSettings extends Partial<Omit<Policy, NestedPolicyKey>> {
  readonly profile?: 'measured' | 'literal';
  readonly emergency?: Partial<Policy['emergency']>;
  readonly maxInterventions?: Partial<Policy['maxInterventions']>;
  readonly restore?: Partial<Policy['restore']>;
  readonly breaker?: Partial<Policy['breaker']>;
  readonly limitsPpm?: Partial<Record<WarmupMode, Ppm>>;
}
type NestedPolicyKey = 'emergency' | 'maxInterventions' | 'restore' | 'breaker' | 'limitsPpm';

/** Cron expressions in UTC that `cronSchedule` accepts: when each kind is due at the latest. */
export interface PollConfig {
  readonly health: string;
  readonly mailboxes: string;
  readonly stats: string;
  readonly warmup: string;
  readonly mailbox: string;
  readonly dns: string;
  readonly blacklist: string;
  /** Spare budget polls a mailbox's stats at most this often; 0 means never. */
  readonly statsIntervalMinMs: number;
  /** See `poll.spare_share`. */
  readonly sparePpm: Ppm;
}

export interface AlertsConfig {
  readonly channels: readonly ChannelConfig[];
  /** Never empty when there are channels: the default route is written out. */
  readonly routes: readonly RouteConfig[];
  readonly groupWaitMs: number;
  readonly groupIntervalMs: number;
  /** null: no reminders. */
  readonly repeatIntervalMs: Readonly<Record<Severity, number | null>>;
  readonly digest: DigestConfig | null;
  readonly heartbeat: HeartbeatConfig | null;
  readonly rules: RuleSettings;
}

/** `url`, `secrets`, `routingKey` and `apiKey` are secrets. */
export type ChannelConfig =
  | {
      readonly name: string;
      readonly type: 'email';
      readonly url: string;
      readonly from: string;
      /** At least one. */
      readonly to: readonly string[];
      readonly allowPlain: boolean;
      /** PEM; null: the authorities that the system knows. */
      readonly ca: string | null;
    }
  | (HttpChannelConfig & { readonly egress: Egress });

type HttpChannelConfig =
  | { readonly name: string; readonly type: 'slack' | 'teams' | 'discord' | 'alertmanager'; readonly url: string }
  | { readonly name: string; readonly type: 'pagerduty'; readonly url: string; readonly routingKey: string }
  | {
      readonly name: string;
      readonly type: 'webhook';
      readonly url: string;
      /** Each `whsec_` and base64, as Standard Webhooks writes it; at least one with format standard. */
      readonly secrets: readonly string[];
      readonly format: 'standard' | 'alertmanager';
    }
  | {
      readonly name: string;
      readonly type: 'recipe';
      /** Ends with /v1. */
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly recipe: string;
      readonly apply: boolean;
    };

/** The summary of the day. */
export interface DigestConfig {
  /** Cron in the time zone. */
  readonly at: string;
  readonly timeZone: string;
  /** Names of channels that take one. */
  readonly channels: readonly string[];
}

/** The dead man's switch; `url` is a secret. */
export interface HeartbeatConfig {
  readonly url: string;
  readonly egress: Egress;
  readonly intervalMs: number;
}

export interface RouteConfig {
  /** All fields that are there must match, each by any of its words. All but severity are globs. */
  readonly match: {
    readonly severity?: readonly Severity[];
    readonly account?: readonly string[];
    readonly rule?: readonly string[];
    readonly mailbox?: readonly string[];
  };
  /** Names of channels that exist. */
  readonly channels: readonly string[];
}

export interface ServerConfig {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** For links in messages, without a slash at the end; null: where it listens. */
  readonly publicUrl: string | null;
  /** Begins with a slash and does not end with one; empty: none. */
  readonly pathPrefix: string;
  readonly trustedProxies: readonly Network[];
  /** Names, or globs, in the Host header of requests that are answered without tokens. */
  readonly allowedHosts: readonly string[];
  /** null: http. Both are PEM, and fit each other. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** 'none' also when nothing is written and the host is loopback. Otherwise at least one token. */
  readonly auth: 'none' | { readonly tokens: readonly TokenConfig[] };
}

export interface TokenConfig {
  readonly name: string;
  /** Of the token's UTF-8 bytes, in lower-case hex. */
  readonly sha256: string;
  readonly role: 'viewer' | 'operator' | 'scraper';
}

export interface RecipesConfig {
  /** An absolute path; it need not be there. */
  readonly directory: string;
  /** Names are unique. */
  readonly apiKeys: readonly {
    readonly name: string;
    /** Of the key's UTF-8 bytes, in lower-case hex. */
    readonly sha256: string;
    readonly plan: 'pro' | 'cloud' | 'agency';
    readonly role: 'viewer' | 'operator';
  }[];
}

/** Lower case; what the API says is to be compared in lower case. */
export interface StatusWords {
  readonly paused: readonly string[];
  readonly running: readonly string[];
  readonly notRunning: readonly string[];
}
