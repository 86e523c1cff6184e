// Incidents: what many mailboxes have in common when they bounce at the same time.
import type { Severity } from './alert-rules.ts';
import type { Counts } from './policy.ts';
import type { EpochMs } from './time.ts';

/** Attributes that mailboxes may share, the narrowest first. */
export const sharedAttributes = ['domain', 'ip', 'provider', 'account', 'base_url'] as const;
export type SharedAttribute = (typeof sharedAttributes)[number];

/** Value that all mailboxes of an incident share. The fault may be elsewhere. */
export interface IncidentCause {
  readonly attribute: SharedAttribute;
  /** For example `google`, `acme.example`, `203.0.113.7`, or an account's name. */
  readonly value: string;
}

/** States that wait for a person come first. */
export const memberStates = ['not_acted', 'failed', 'held', 'paused', 'recovery', 'burst'] as const;
export type MemberState = (typeof memberStates)[number];

export interface IncidentMailbox extends Counts {
  readonly account: string;
  readonly mailboxId: string;
  readonly email: string;
  readonly state: MemberState;
  readonly since: EpochMs;
  readonly severity: Severity;
  /** True if its bounces go on or something waits, which keeps the incident open. */
  readonly goesOn: boolean;
}

export interface IncidentAnnouncement {
  readonly at: EpochMs;
  readonly members: number;
  readonly severity: Severity;
  /** Number of announced alerts that are about no single mailbox, and no symptoms. */
  readonly alerts: number;
  /** Number of mailboxes on which an action was held. */
  readonly held: number;
  /** True if only the end, and the end of what is held, are left to announce. */
  readonly updated: boolean;
  /** Channels that were notified, and will be of the end. */
  readonly channels: readonly string[];
}

export interface Incident {
  readonly id: string;
  readonly cause: IncidentCause;
  /** Kind of bounce in the API's words, or null if unknown. */
  readonly kind: string | null;
  readonly beganAt: EpochMs;
  readonly openedAt: EpochMs;
  readonly members: readonly IncidentMailbox[];
  /** Fingerprints of alerts of the incident that are about no single mailbox. */
  readonly alerts: readonly string[];
  readonly severity: Severity;
  readonly joinedAt: EpochMs;
  readonly movedAt: EpochMs;
  readonly announced: IncidentAnnouncement | null;
  readonly endedAt: EpochMs | null;
}

/** Facts of an incident in a message. Its id is the same in every message of the incident. */
export interface MessageIncident extends Pick<Incident, 'id' | 'cause' | 'kind' | 'severity' | 'beganAt' | 'endedAt'> {
  /** eased: nothing is held any more. */
  readonly step: 'began' | 'grew' | 'eased' | 'ended';
  readonly title: string;
  readonly sentences: readonly string[];
  readonly memberCount: number;
  readonly domainCount: number;
  readonly worst: readonly (Pick<IncidentMailbox, 'account' | 'mailboxId' | 'email'> & { readonly line: string })[];
  readonly pageUrl: string | null;
}
