// The webhook channel: Standard Webhooks 1.0.0 (https://github.com/standard-webhooks/standard-webhooks), signed.
import { Webhook } from 'standardwebhooks';
import type { GroupMessage } from '../alert/grouping.ts';
import type { Transition } from '../model/alert.ts';
import type { EpochMs } from '../model/time.ts';
import { type Clock, systemClock } from '../world.ts';
import type { Channel, SendResult } from './channel.ts';
import { messageTitle } from './message-title.ts';
import { failureOf, postJson } from './post.ts';

export interface WebhookSettings {
  readonly name: string;
  readonly url: string;
  /** `whsec_` and base64, as Standard Webhooks writes it. */
  readonly secret: string;
}

/** Alerts that one message lists; `total` counts them all. */
const maxWebhookAlerts = 500;

/** Throws when the secret is not base64 behind `whsec_`: the configuration is checked before. */
export function webhookChannel(settings: WebhookSettings, clock: Clock): Channel {
  const signer = new Webhook(settings.secret);
  const wallClock = systemClock();
  return {
    name: settings.name,
    type: 'webhook',
    minGapMs: 0,
    render: (message) => ({ payload: JSON.stringify(bodyOf(message)), title: messageTitle(message) }),
    send: async (delivery, signal) => {
      // The moment of sending, not of making: receivers refuse old time stamps, and retries may come hours later. It is
      // the machine's time even where the daemon lives on a moved clock: the receiver compares it with its own.
      const sentAt = new Date(wallClock.now());
      const answer = await postJson({
        url: settings.url,
        body: delivery.payload,
        headers: {
          'webhook-id': delivery.id,
          'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1_000)),
          'webhook-signature': signer.sign(delivery.id, sentAt, delivery.payload),
        },
        signal,
        now: clock.now(),
      });
      return resultOf(answer);
    },
  };
}

function resultOf(answer: Awaited<ReturnType<typeof postJson>>): SendResult {
  if (answer.kind === 'failed') return { kind: 'failed', detail: answer.detail, retryAfterMs: null, final: false };
  const { status } = answer;
  if (status >= 200 && status < 300) return { kind: 'sent' };
  const redirect = status >= 300 && status < 400 ? ', a redirect, which is not followed' : '';
  return failureOf(status, answer.retryAfterMs, `the receiver answered ${status}${redirect}`);
}

/** The documented body; docs describe every field. Times are ISO 8601. */
function bodyOf(message: GroupMessage) {
  return {
    type: `alerts.${message.kind}`,
    timestamp: new Date(message.at).toISOString(),
    data: {
      group: message.group,
      account: message.account,
      rule: message.rule,
      severity: message.severity,
      total: message.transitions.length,
      alerts: message.transitions.slice(0, maxWebhookAlerts).map(alertBody),
    },
  };
}

function alertBody({ kind, alert }: Transition) {
  return {
    status: kind,
    rule: alert.rule,
    severity: alert.severity,
    account: alert.account,
    mailbox: alert.email,
    mailbox_id: alert.mailboxId,
    object: alert.object,
    fingerprint: alert.fingerprint,
    title: alert.facts.title,
    sentences: alert.facts.sentences,
    numbers: alert.facts.numbers,
    since: isoOrNull(alert.since),
    firing_at: isoOrNull(alert.firingAt),
    resolved_at: isoOrNull(alert.resolvedAt),
  };
}

function isoOrNull(at: EpochMs | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
