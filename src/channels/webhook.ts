// The webhook channel: Standard Webhooks 1.0.0 (https://github.com/standard-webhooks/standard-webhooks), signed.
import { createHmac } from 'node:crypto';
import { z } from 'zod';
import type { GroupMessage } from '../alerts/grouping.ts';
import { accountsOf, alertId, type Transition } from '../core/alert.ts';
import type { MessageIncident } from '../core/incident.ts';
import type { EpochMs } from '../core/time.ts';
import { checked } from '../world/schema/scalars.ts';
import { secret, section } from '../world/schema/section.ts';
import { type Clock, systemClock } from '../world/world.ts';
import {
  type Channel,
  checkCredentials,
  credentialKeys,
  type Hook,
  hookKeys,
  type Notice,
  withCredentials,
} from './channel.ts';
import { messageTitle } from './message-text.ts';
import { postJson, resultOf } from './post.ts';

const secretHint =
  'a Standard Webhooks secret is whsec_ and the base64 of 24 to 64 random bytes: make one with `echo whsec_$(openssl rand -base64 32)`';
const signingKey = checked((secret) => {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(secret)?.[1];
  const bytes = Buffer.from(encoded ?? '', 'base64').length;
  return (bytes < 24 || bytes > 64) && `is not a webhook secret: ${secretHint}`;
});
const oneOrTwoKeys = z.union(
  [signingKey, z.array(signingKey).min(1).max(2, 'has more than two secrets; use the new one and the old one')],
  {
    error: ({ code, input }) => {
      if (code !== 'invalid_union') return undefined;
      const fault =
        input === undefined ? 'is missing: write secret or secret_file' : 'must be a secret, or a list of two';
      return `${fault}; ${secretHint}`;
    },
  },
);

export const webhookSettings = section(
  {
    ...hookKeys,
    ...credentialKeys,
    type: z.literal('webhook').describe('A POST of JSON.'),
    secret: secret(
      oneOrTwoKeys.describe(
        'The key that signs the messages: whsec_ and base64. A list of two while you rotate it: [NEW, OLD].',
      ),
    ),
  },
  checkCredentials,
).transform(({ secret: written, ...keys }) => ({ ...withCredentials(keys), secrets: [written].flat() }));

/** Key that signs the messages. */
export const webhookSecret = /\bwhsec_[A-Za-z0-9+/=_-]{4,}/;

/** Each of `secrets` signs: there are two during a rotation. */
type WebhookSettings = Hook & Pick<z.output<typeof webhookSettings>, 'secrets'>;

/** An alert has up to 3 KB, with twenty tags, and Express accepts a body of 100 KB by default. */
const maxAlerts = 25;

export function webhookChannel(settings: WebhookSettings, clock: Clock): Channel {
  const keys = settings.secrets.map((secret) => Buffer.from(secret.replace(/^whsec_/, ''), 'base64'));
  const wallClock = systemClock();
  return {
    name: settings.name,
    type: 'webhook',
    minGapMs: 0,
    maxAlerts,
    render: (message) => ({ payload: JSON.stringify(alertsBody(message)), title: messageTitle(message) }),
    renderNotice: (notice) => ({ payload: JSON.stringify(noticeBody(notice)), title: notice.title }),
    send: async ({ id, payload }, signal) => {
      // Receivers compare the time stamp with their own clock and refuse old ones, and retries may come hours later, so
      // it is the machine's time of sending.
      const sentAt = wallClock.now();
      const timestamp = String(Math.floor(sentAt / 1_000));
      const signatures = keys.map((key) => signatureOf(key, `${id}.${timestamp}.${payload}`));
      const headers = {
        'webhook-id': id,
        'webhook-timestamp': timestamp,
        'webhook-signature': signatures.join(' '),
      };
      return resultOf(await postJson(settings, payload, { signal, clock, headers }));
    },
  };
}

/** The library of Standard Webhooks takes 20 ms for half a megabyte. */
function signatureOf(key: Buffer, text: string): string {
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

/** docs/channels.md describes every field. Times are ISO 8601. */
function alertsBody(message: GroupMessage) {
  return {
    type: `alerts.${message.kind}`,
    timestamp: new Date(message.at).toISOString(),
    data: {
      title: messageTitle(message),
      group: message.group,
      account: message.account,
      rule: message.rule,
      severity: message.severity,
      incident: message.incident && incidentBody(message.incident),
      total: message.transitions.length,
      alerts: message.transitions.map(alertBody),
    },
  };
}

function noticeBody({ name, title, at, sections }: Notice) {
  return { type: name, timestamp: new Date(at).toISOString(), data: { title, sections } };
}

function incidentBody(incident: MessageIncident) {
  const { id, step, title, sentences, cause, kind, severity, beganAt, endedAt } = incident;
  return {
    id,
    step,
    title,
    sentences,
    cause,
    bounce_kind: kind,
    severity,
    began_at: new Date(beganAt).toISOString(),
    ended_at: isoOrNull(endedAt),
    mailboxes: incident.memberCount,
    domains: incident.domainCount,
    worst: incident.worst.map(({ account, mailboxId, email, line }) => ({
      account,
      mailbox: email,
      mailbox_id: mailboxId,
      text: line,
    })),
    page_url: incident.pageUrl,
  };
}

function alertBody({ kind, alert }: Transition) {
  return {
    status: kind,
    rule: alert.rule,
    severity: alert.severity,
    account: alert.account,
    accounts: accountsOf(alert),
    mailbox: alert.email,
    mailbox_id: alert.mailboxId,
    object: alert.object,
    tags: alert.facts.tags ?? [],
    id: alertId(alert),
    fingerprint: alert.fingerprint,
    title: alert.facts.title,
    sentences: alert.facts.sentences,
    numbers: alert.facts.numbers,
    since: isoOrNull(alert.since),
    firing_at: isoOrNull(alert.firingAt),
    resolved_at: isoOrNull(alert.resolvedAt),
    acknowledged: alert.acknowledged ? { ...alert.acknowledged, at: isoOrNull(alert.acknowledged.at) } : null,
  };
}

function isoOrNull(at: EpochMs | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
