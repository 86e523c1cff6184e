// A delivery that waits for its first attempt, or as a test wants it; settings of a notifier under which nothing comes by itself.
import { defaultRuleSettings } from '../../src/core/alert-rules.ts';
import { type Delivery, pendingDelivery } from '../../src/core/delivery.ts';
import { minuteMs, secondMs } from '../../src/core/time.ts';
import type { NotifierSettings } from '../../src/outbox/notifier.ts';
import { start } from '../alerts/samples.ts';

export function sampleDelivery(change: { readonly [Field in keyof Delivery]?: Delivery[Field] } = {}): Delivery {
  const fresh = { id: 'msg_1', channel: 'hook', group: 'g', payload: '{}', title: 't', alerts: [] };
  return { ...pendingDelivery(fresh, start, 1), ...change } as Delivery;
}

/** Routes of a configuration that writes none. */
export function usualRoutes(channels: readonly { readonly name: string }[]): NotifierSettings['routes'] {
  return [{ match: { severity: ['critical', 'warning'] }, channels: channels.map(({ name }) => name) }];
}

/** Settings of a configuration that writes none, for these channels. */
export function usualSettings(channels: Parameters<typeof usualRoutes>[0]): NotifierSettings {
  return { ...quietSettings, routes: usualRoutes(channels), groupWaitMs: 30 * secondMs, groupIntervalMs: 5 * minuteMs };
}

export const quietSettings: NotifierSettings = {
  ...{
    rules: defaultRuleSettings,
    routes: [],
    templates: [],
    digests: [],
    muteTimes: [],
    heartbeat: null,
    groupWaitMs: 0,
    groupIntervalMs: 0,
  },
  repeatIntervalMs: { critical: null, warning: null, info: null },
};
