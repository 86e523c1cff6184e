// State of a receiver after the attempts to reach it: of a channel, or of the switch that gets the heartbeat. Pure.
import type { ChannelState } from '../core/fleet/fleet.ts';
import type { EpochMs } from '../core/time.ts';

export type ReceiverState = Pick<ChannelState, 'lastSuccessAt' | 'failingSince' | 'lastFailure' | 'refusesSetup'>;

export const untried: ReceiverState = {
  lastSuccessAt: null,
  failingSince: null,
  lastFailure: null,
  refusesSetup: false,
};

export function answered(now: EpochMs): ReceiverState {
  return { ...untried, lastSuccessAt: now };
}

export function failedAgain(
  { lastSuccessAt, failingSince }: ReceiverState,
  failure: Pick<ReceiverState, 'lastFailure' | 'refusesSetup'>,
  now: EpochMs,
): ReceiverState {
  return { lastSuccessAt, failingSince: failingSince ?? now, ...failure };
}
