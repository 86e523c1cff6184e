// Says to the notifier of a rig that the account was polled a moment ago.
import { start } from '../alerts/samples.ts';
import type { Rig } from './rig.ts';

export function polled(rig: Rig): void {
  rig.fleet.putAccount({
    name: 'acme',
    requestsPerMinute: 90,
    limitPerMinute: 100,
    lastSuccessAt: rig.clock.now(),
    failingSince: null,
    lastFailure: null,
    keyRejected: false,
    listed: true,
    unlisted: [],
    health: 'ok',
    apiHealth: { status: 'ok', clockAheadMs: 0 },
    queueLength: 0,
    oldestDueAt: null,
    forecast: null,
    rejections: 0,
    keyWrites: null,
    throttledLastHour: 0,
    watchedSince: start,
  });
}
