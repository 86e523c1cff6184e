// The alertmanager channel: POST /api/v2/alerts. Alertmanager holds an alert for as long as it is sent again, and forgets
// all of them when it restarts: so what fires is announced again every minute, and what resolved for a quarter of an hour.
import type { Alert, Transition } from '../model/alert.ts';
import type { Egress } from '../model/egress.ts';
import { hourMs, minuteMs } from '../model/time.ts';
import { type Clock, inTurns } from '../world.ts';
import { annotationsOf, endsAtOf, generatorUrlOf, labelsOf, startsAtOf } from './alertmanager-alert.ts';
import type { Channel, SendResult } from './channel.ts';
import { messageTitle } from './message-title.ts';
import { postJson, resultOf } from './post.ts';

export interface AlertmanagerSettings {
  readonly name: string;
  /** Where Alertmanager is; `/api/v2/alerts` is added. */
  readonly url: string;
  /** The way to `url`. Default: directly. */
  readonly egress?: Egress;
}

const upkeepEveryMs = minuteMs;
/** What fires ends by itself when we fall silent for so long. */
const firesForMs = 5 * minuteMs;
/** An event never resolves; to Alertmanager it is an alert that ends by itself. */
const eventLastsMs = hourMs;
const resolvedKeptMs = 15 * minuteMs;
const maxAlertsInPost = 500;

/** An alert as it stands in a payload. Without `endsAt` its end is `aheadMs` after the moment of sending. */
interface Frozen {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt?: string;
  readonly aheadMs?: number;
  readonly generatorURL: string;
}

export function alertmanagerChannel(settings: AlertmanagerSettings, clock: Clock): Channel {
  const url = `${settings.url.replace(/\/+$/, '')}/api/v2/alerts`;
  /** By their labels; until then on the monotonic scale. */
  const resolvedLately = new Map<string, { readonly alert: Frozen; readonly until: number }>();
  /** By their labels: what the last upkeep reported as firing. */
  let keptFiring = new Map<string, Frozen>();

  const post = async (alerts: readonly Frozen[], signal: AbortSignal): Promise<SendResult> => {
    let result: SendResult = { kind: 'sent' };
    for (let from = 0; from < alerts.length; from += maxAlertsInPost) {
      const body = JSON.stringify(
        alerts.slice(from, from + maxAlertsInPost).map((alert) => thawed(alert, clock.now())),
      );
      result = resultOf(
        await postJson({ url, body, headers: {}, egress: settings.egress, signal, now: clock.now() }),
        'Alertmanager',
      );
      if (result.kind !== 'sent') return result;
    }
    return result;
  };
  const remember = (alerts: readonly Frozen[]) => {
    for (const alert of alerts) {
      const key = keyOf(alert);
      if (alert.endsAt === undefined) resolvedLately.delete(key);
      else resolvedLately.set(key, { alert, until: clock.monotonic() + resolvedKeptMs });
    }
  };

  return {
    name: settings.name,
    type: 'alertmanager',
    minGapMs: 0,
    keepsOpen: true,
    render: ({ transitions, ...message }) =>
      transitions.length > 0
        ? { payload: JSON.stringify(transitions.map(frozen)), title: messageTitle({ ...message, transitions }) }
        : null,
    renderNotice: (notice) =>
      notice.name === 'test' ? { payload: JSON.stringify([testAlert(notice)]), title: notice.title } : null,
    send: async ({ payload }, signal) => {
      const alerts: readonly Frozen[] = JSON.parse(payload);
      const result = await post(alerts, signal);
      if (result.kind === 'sent') remember(alerts);
      return result;
    },
    upkeep: {
      everyMs: upkeepEveryMs,
      send: async (firing, signal) => {
        // In a storm there are as many as mailboxes, and this comes every minute.
        const now = new Map<string, Frozen>();
        const add = (piece: readonly Alert[]) => {
          for (const alert of piece) {
            const one = frozen(asFiring(alert));
            now.set(keyOf(one), one);
          }
        };
        await inTurns(firing, add, { urgency: 'patient' });
        const sent = [...now.values()];
        // Alertmanager groups by itself: what ended since need not wait for our own group's interval.
        const ended = [...keptFiring].filter(([key]) => !now.has(key) && !resolvedLately.has(key));
        remember([...sent, ...ended.map(([, alert]) => endedAt(alert, clock.now()))]);
        keptFiring = now;
        for (const [key, { until }] of resolvedLately) if (until < clock.monotonic()) resolvedLately.delete(key);
        const all = [...sent, ...[...resolvedLately.values()].map(({ alert }) => alert)];
        return all.length === 0 ? null : post(all, signal);
      },
    },
  };
}

/** What Alertmanager tells alerts apart by. All labels are made in one order. */
function keyOf({ labels }: Frozen): string {
  return JSON.stringify(labels);
}

function asFiring(alert: Alert): Transition {
  return { kind: 'firing', at: alert.firingAt ?? alert.since, alert };
}

function frozen(transition: Transition): Frozen {
  const { kind, alert } = transition;
  const end =
    kind === 'resolved' ? { endsAt: endsAtOf(transition) } : { aheadMs: kind === 'event' ? eventLastsMs : firesForMs };
  return {
    labels: labelsOf(alert),
    annotations: annotationsOf(alert),
    startsAt: startsAtOf(transition),
    ...end,
    generatorURL: generatorUrlOf(alert),
  };
}

function endedAt({ aheadMs: _, ...alert }: Frozen, now: number): Frozen {
  return { ...alert, endsAt: new Date(Math.max(now, Date.parse(alert.startsAt))).toISOString() };
}

function thawed({ aheadMs = firesForMs, endsAt, ...alert }: Frozen, now: number) {
  return { ...alert, endsAt: endsAt ?? new Date(Math.max(now, Date.parse(alert.startsAt)) + aheadMs).toISOString() };
}

/** Ends by itself a minute later. */
function testAlert(notice: { readonly title: string; readonly at: number }): Frozen {
  return {
    labels: { alertname: 'warmwarden_test', severity: 'info' },
    annotations: { summary: notice.title },
    startsAt: new Date(notice.at).toISOString(),
    aheadMs: minuteMs,
    generatorURL: '',
  };
}
