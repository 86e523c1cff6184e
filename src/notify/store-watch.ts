// Watches the store itself. While it can't be written no message can be recorded, so this one alert goes out without:
// once to each channel, with no second try. Its end is told as everything else is.
import { createHash } from 'node:crypto';
import { step } from '../alert/engine.ts';
import { messageOf } from '../alert/grouping.ts';
import { type AlertRoute, channelsFor } from '../alert/routing.ts';
import { storeFailing, withBeginning } from '../alert/store-rule.ts';
import { tune } from '../alert/tuning.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Transition } from '../model/alert.ts';
import type { Delivery } from '../model/delivery.ts';
import type { RuleSettings } from '../model/rule-settings.ts';
import type { World } from '../world.ts';
import type { Channel, Rendered } from './channel.ts';
import type { OutboxStore } from './outbox-store.ts';

export interface StoreWatchParts {
  readonly world: World;
  readonly store: OutboxStore;
  readonly fleet: Fleet;
  /** In force at that moment. */
  readonly channels: () => readonly Channel[];
  readonly settings: () => { readonly routes: readonly AlertRoute[]; readonly rules: RuleSettings };
  /** Called after transitions were recorded. */
  readonly recorded: () => void;
}

const everyMs = 30_000;
/** Real time. */
const sendDeadlineMs = 10_000;

/** One look. Returns how long to wait for the next one, milliseconds. */
export async function watchStore(parts: StoreWatchParts): Promise<number> {
  const { world, store, fleet, settings, recorded } = parts;
  const now = world.clock.now();
  const failure = await store.proveWritable(now).then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const conditions = tune([storeFailing(failure)], settings().rules);
  const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), now);
  if (changes.changed.length + changes.dropped.length === 0) return everyMs;
  const [begun] = changes.transitions.filter(({ kind }) => kind === 'firing');
  const [ended] = changes.transitions.filter(({ kind }) => kind === 'resolved');
  if (ended) await store.recordAlerts(withBeginning(changes, ended.alert.firingAt ?? ended.alert.since));
  for (const alert of changes.changed) fleet.putAlert(alert);
  for (const fingerprint of changes.dropped) fleet.removeAlert(fingerprint);
  if (begun) await Promise.all(parts.channels().map((channel) => sayUnrecorded(begun, channel, parts)));
  if (ended) recorded();
  return everyMs;
}

async function sayUnrecorded(transition: Transition, channel: Channel, parts: StoreWatchParts): Promise<void> {
  const { settings, world } = parts;
  if (channel.once || channelsFor(transition.alert, settings().routes, [channel.name]).length === 0) return;
  try {
    const message = messageOf('store', [transition], transition.at);
    const rendered = message && channel.render(message);
    if (!rendered) return;
    const result = await channel.send(unrecorded(channel.name, rendered, transition), deadline());
    if (result.kind !== 'sent') world.log.error({ channel: channel.name }, 'That the store fails could not be told.');
  } catch (error) {
    world.log.error({ channel: channel.name, err: error }, 'That the store fails could not be told.');
  }
}

const deadline = () => AbortSignal.timeout(sendDeadlineMs);

/** A delivery that stands in no outbox. */
function unrecorded(channel: string, { payload, title }: Rendered, { at, alert }: Transition): Delivery {
  return {
    id: `msg_${createHash('sha256').update(`${channel} ${payload}`).digest('base64url').slice(0, 27)}`,
    channel,
    group: 'store',
    sequence: 0,
    payload,
    title,
    state: 'pending',
    attempts: 0,
    createdAt: at,
    nextAttemptAt: at,
    settledAt: null,
    detail: null,
    alerts: [alert.fingerprint],
    begunAt: null,
    receipt: null,
  };
}
