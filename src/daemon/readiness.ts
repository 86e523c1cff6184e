// Readiness for `/readyz`: whether Warmwarden itself works. An API that fails does not count: not_guarded reports it.
import { crashFingerprint, unheardSince } from '../alerts/rules/daemon-rules.ts';
import { noAccount } from '../core/alert.ts';
import type { Fleet } from '../core/fleet/fleet.ts';
import { notGuardedBy, ownTroubles } from '../core/not-guarded.ts';
import type { Operate } from '../core/operator-command.ts';
import { storeTitle } from '../core/store-failure.ts';
import type { EpochMs } from '../core/time.ts';
import { sentence } from '../core/wording/explain.ts';
import { momentText, withoutFolders } from '../core/wording/phrases.ts';
import type { Readiness } from '../web/route-parts.ts';

/** Page and recipes start before the operator commands, and get them from here. */
export interface Startup {
  /** Door for operator commands, or null while the daemon starts. */
  operate: Operate | null;
}

interface Sources extends Pick<Startup, 'operate'> {
  readonly fleet: Fleet;
  /** IANA name. */
  readonly zone: string;
  readonly now: EpochMs;
}

/** docs/operating.md says who notices each of the causes. */
export const causes = {
  start: ({ operate }) => (operate ? [] : ['the first sweep has not started']),
  store: ({ fleet: { storeFailure, storeFailingSince }, zone }) => {
    if (!storeFailure) return [];
    const since = storeFailingSince === null ? '' : ` (since ${momentText(storeFailingSince, zone)})`;
    // The answer is public, so it omits folders. The log and the alert have the whole paths.
    const about = withoutFolders(`${sentence(storeFailure.said)} ${storeFailure.remedy}`);
    return [`${storeTitle}${since}: ${about}`];
  },
  accounts: ({ fleet, zone, now }) =>
    ownTroubles(notGuardedBy(fleet, now)).map(({ sentence: said, since }) =>
      since === null ? said : `${said} (since ${momentText(since, zone)})`,
    ),
  crash: ({ fleet, operate }) => {
    const isStarting = !operate || fleet.guarding().some(({ startingSince }) => startingSince !== null);
    const crash = fleet.alert(crashFingerprint);
    return isStarting && crash ? [crash.facts.sentences[0] ?? crash.facts.title] : [];
  },
  channels: ({ fleet, zone }) => {
    const since = unheardSince(fleet.channels(), fleet.alertsOf(noAccount));
    if (since === null) return [];
    const failures = [...fleet.channels()].flatMap(({ name, lastFailure }) =>
      lastFailure ? [`${name}: ${lastFailure}`] : [],
    );
    return [`no channel has accepted a message since ${momentText(since, zone)}: ${failures.join('; ')}`];
  },
} satisfies Record<string, (sources: Sources) => readonly string[]>;

export function readinessOf(sources: Sources): Readiness {
  const reasons = Object.values(causes).flatMap((cause) => cause(sources));
  return { ready: reasons.length === 0, reasons };
}
