// What is wrong with the replicas of a store, in sentences.
import type { MissingReplica, ReplicaState } from '../replica.ts';
import { listText, momentText } from './phrases.ts';

/** Replicas whose configurations differ; none while all are the same. */
export function disagreeing(replicas: readonly ReplicaState[]): readonly ReplicaState[] {
  const known = replicas.filter(({ configDigest }) => configDigest !== '');
  return new Set(known.map(({ configDigest }) => configDigest)).size > 1 ? known : [];
}

/** How far apart the configurations are, and what to do. */
export function disagreementText(replicas: readonly ReplicaState[]): string {
  const names = listText(replicas.map(({ name }) => name));
  const [one, other] = strangers(replicas) ?? [];
  if (one && other)
    return `The replicas ${one.name} and ${other.name} have no account in common, so two deployments are using one database. Give each deployment a database of its own.`;
  return `The replicas ${names} have different configurations. Give all of them the same file, then reload each one.`;
}

/** Two that guard different fleets. */
function strangers(replicas: readonly ReplicaState[]): readonly [ReplicaState, ReplicaState] | null {
  for (const one of replicas)
    for (const other of replicas) {
      if (one === other || one.configured.length === 0 || other.configured.length === 0) continue;
      if (!one.configured.some((account) => other.configured.includes(account))) return [one, other];
    }
  return null;
}

/** Which replicas ended, and when each was last heard of. */
export function missingText(missing: readonly MissingReplica[], zone: string): string {
  const names = missing.map(({ name, beatAt }) => `${name} (last heartbeat ${momentText(beatAt, zone)})`);
  const many = missing.length > 1;
  return `${many ? 'Replicas' : 'Replica'} ${listText(names)} ended without a normal stop, and no new replica has joined in ${many ? 'their' : 'its'} place.`;
}

export function replicaTroubles(
  replicas: readonly ReplicaState[],
  missing: readonly MissingReplica[],
  zone: string,
): readonly string[] {
  const differing = disagreeing(replicas);
  return [
    ...(missing.length === 0 ? [] : [missingText(missing, zone)]),
    ...replicas
      .filter(({ silent }) => silent)
      .map(({ name }) => `Replica ${name} is silent. If it stays silent, the other replicas take over its accounts.`),
    ...replicas.flatMap(({ name, reloadFailure }) =>
      reloadFailure === null ? [] : [`Replica ${name} refused its newest configuration: ${reloadFailure}`],
    ),
    ...(differing.length === 0 ? [] : [disagreementText(differing)]),
  ];
}
