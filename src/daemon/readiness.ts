// Whether all that is configured is guarded and everything that guards it works; otherwise what does not, for `/readyz`.
import type { Readiness } from '../serve/route-parts.ts';
import { momentText } from '../wording/phrases.ts';
import type { Opened } from './open.ts';
import type { Startup } from './startup.ts';

export function readinessOf(
  { fleet, loops }: Pick<Opened, 'fleet' | 'loops'>,
  { commands }: Pick<Startup, 'commands'>,
): Readiness {
  const reasons = [
    ...(commands ? [] : ['the first sweep has not started']),
    ...(fleet.storeFailure ? ['the store is failing'] : []),
    ...fleet.guarding().flatMap(({ account, unguarded }) => {
      if (unguarded === null) return [];
      return [`account ${account} is not guarded since ${momentText(unguarded.since)}: ${unguarded.why}`];
    }),
    ...loops.failing().map(({ task, since }) => `${task} has failed since ${momentText(since)}`),
  ];
  return { ready: reasons.length === 0, reasons };
}
