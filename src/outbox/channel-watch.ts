// Watch of the channels themselves: a channel that accepts nothing for a while is an alert, sent through the others.
import { tune } from '../alerts/condition.ts';
import { step } from '../alerts/engine.ts';
import { channelsFailing, heartbeatName } from '../alerts/rules/daemon-rules.ts';
import { messagesSilenced } from '../alerts/rules/protection-rule.ts';
import { noAccount } from '../core/alert.ts';
import type { RuleSettings } from '../core/rule-settings.ts';
import type { PingState } from './heartbeat.ts';
import { type RecordingParts, recordAlerts } from './outbox-store.ts';

interface ChannelWatchParts extends RecordingParts {
  readonly settings: () => { readonly rules: RuleSettings };
}

const everyMs = 30_000;

const nothingKnown = { lastSuccessAt: null, failingSince: null, lastFailure: null, refusesSetup: false };

/** Looks once at the channels: records findings, then shows them. Returns the wait for the next look, milliseconds. */
export async function watchChannels(parts: ChannelWatchParts, heartbeat: PingState | null = null): Promise<number> {
  const { world, fleet, channels, settings } = parts;
  // A channel of a process that has just started may have no state yet: an alert about it continues.
  const known = channels().map(({ name }) => fleet.channel(name) ?? { name, ...nothingKnown });
  const states = [...known, ...(heartbeat ? [{ name: heartbeatName, ...heartbeat }] : [])];
  const { rules } = settings();
  const context = { command: world.command, zone: rules.timeZone };
  // A wrong password or key is not an outage that may pass, so its alert does not wait.
  const refused = new Set(states.filter(({ refusesSetup }) => refusesSetup).map(({ name }) => name));
  const tuned = tune(channelsFailing(states, fleet.alertsOf(noAccount), context), rules);
  const conditions = tuned.map((one) => (refused.has(one.subject.object ?? '') ? { ...one, forMs: 0 } : one));
  const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), world.clock.now());
  await recordAlerts(parts, changes);
  return everyMs;
}

// Watch of the silences: a silence that mutes everything is an alert that no silence mutes.

/** Looks once at the silences: records findings, then shows them. Returns the wait for the next look, milliseconds. */
export async function watchSilences(parts: ChannelWatchParts): Promise<number> {
  const { world, fleet, settings } = parts;
  const { rules } = settings();
  const now = world.clock.now();
  const accounts = [...fleet.accounts()].map(({ name }) => name);
  const words = { command: world.command, zone: rules.timeZone, accounts };
  const conditions = tune(messagesSilenced(fleet.silences(now), fleet.alertsOf(noAccount), words), rules);
  const changes = step(conditions, (fingerprint) => fleet.alert(fingerprint), now);
  await recordAlerts(parts, changes);
  return everyMs;
}
