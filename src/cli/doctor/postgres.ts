// A store in PostgreSQL: the server, what the role may do, the clock, and the replicas that use it.

import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { counted, listText, spanText } from '../../core/wording/phrases.ts';
import { replicaTroubles } from '../../core/wording/replicas.ts';
import { connectionsAReplica } from '../../store/postgres/doubts.ts';
import type { Content, Examination, SeenReplica } from '../../store/postgres/examination.ts';
import { skewOf } from '../../store/replicas/skew.ts';
import { commandName } from '../../world/command-name.ts';
import { type Examined, reporter } from './examined.ts';

const store = reporter('store');
const clock = reporter('clock');
const daemon = reporter('daemon');

/** `accountNames`: of the configuration. */
export function serverLines(
  place: PostgresPlace,
  seen: Examination,
  accountNames: readonly string[],
): readonly Examined[] {
  return [
    ...seen.lacking.map((what) => store('problem', what)),
    ...(seen.lacking.length === 0 ? [stateLine(place, seen)] : []),
    ...connectionLines(seen),
    ...seen.doubts.map((doubt) => store('warning', doubt)),
    ...(seen.content ? otherFleet(seen.content, accountNames) : []),
    clockLine(seen.aheadMs),
  ];
}

function stateLine(place: PostgresPlace, { version, state }: Examination): Examined {
  const server = `PostgreSQL answers at ${nameOf(place)} (version ${version})`;
  if (state === 'absent') return store('ok', `${server}. It has no store yet: the first start creates it.`);
  if (state === 'ready') return store('ok', `${server}, and the store in it can be used.`);
  const advice = 'Back it up with `pg_dump --schema=warmwarden`; the next start upgrades it.';
  return store('warning', `${server}. An earlier version of Warmwarden wrote the store in it. ${advice}`);
}

function connectionLines({ connections, content }: Examination): readonly Examined[] {
  if (connections === null) return [];
  const { free, remedy } = connections;
  const living = content?.replicas.length ?? 0;
  const each = `a replica needs ${connectionsAReplica}`;
  if (living === 0 && free < connectionsAReplica)
    return [store('problem', `PostgreSQL has only ${counted(free, 'free connection')}, and ${each}. ${remedy}`)];
  if (free >= connectionsAReplica * Math.max(1, living))
    return [store('ok', `PostgreSQL has ${counted(free, 'free connection')}, and ${each}.`)];
  const many = `Each of the ${counted(living, 'replica')} may need ${connectionsAReplica} more while it is updated`;
  return [store('warning', `PostgreSQL has only ${counted(free, 'free connection')}. ${many}. ${remedy}`)];
}

/** Another deployment in the same database, by its replicas or by what it has stored. */
function otherFleet({ replicas, accounts }: Content, accountNames: readonly string[]): readonly Examined[] {
  const isOther = (theirs: readonly string[]) =>
    accountNames.length > 0 && theirs.length > 0 && !theirs.some((account) => accountNames.includes(account));
  const advice = 'If it belongs to another deployment, give each deployment a database of its own.';
  const stranger = replicas.find(({ configured }) => isOther(configured));
  if (stranger) {
    const whose = `The replica ${stranger.name} uses this database for other accounts: ${listText(stranger.configured)}`;
    return [store('warning', `${whose}. ${advice}`)];
  }
  if (!isOther(accounts)) return [];
  return [
    store(
      'warning',
      `The store has none of the accounts of this configuration, but others: ${listText(accounts)}. ${advice}`,
    ),
  ];
}

function clockLine(aheadMs: number): Examined {
  const skew = skewOf(aheadMs);
  if (skew === 'small') return clock('ok', 'The clock of this machine agrees with the PostgreSQL server.');
  const where = aheadMs > 0 ? 'behind' : 'ahead of';
  const differ = `The clock of this machine is ${spanText(Math.abs(aheadMs))} ${where} the clock of the PostgreSQL server`;
  const advice = 'Synchronize both (`timedatectl` shows whether a clock is synchronized).';
  return skew === 'large'
    ? clock('warning', `${differ}. ${advice}`)
    : clock('problem', `${differ}, so a replica on this machine takes no accounts. ${advice}`);
}

export const unknownReplicas: readonly Examined[] = [
  daemon('skipped', 'No daemon answers on this machine; whether one runs elsewhere is not known.'),
];

/** Where no daemon answers on this machine. */
export function replicaLines(
  { content }: Examination,
  { accountNames, timeZone }: { readonly accountNames: readonly string[]; readonly timeZone: string },
): readonly Examined[] {
  if (content === null) return unknownReplicas;
  const { replicas, missing } = content;
  const absent = `Start it: \`${commandName} run --config FILE\`.`;
  const states = replicas.map((one) => ({ ...one, startedAt: 0, silent: false, isSelf: false }));
  const troubles = replicaTroubles(states, missing, timeZone).map((trouble) => daemon('warning', trouble));
  if (replicas.length === 0)
    return [daemon('warning', `No daemon runs on this store: nothing is guarded. ${absent}`), ...troubles];
  const guarded = replicas.flatMap(({ accounts }) => accounts);
  const unguarded = accountNames.filter((account) => !guarded.includes(account));
  return [
    daemon('ok', `No daemon of this configuration answers on this machine. ${replicas.map(dutiesOf).join(' ')}`),
    ...unguarded.map((account) => daemon('problem', `No replica guards the account ${account}.`)),
    ...troubles,
  ];
}

function dutiesOf({ name, version, accounts, notifies }: SeenReplica): string {
  const guards = accounts.length === 0 ? 'guards no account' : `guards ${listText(accounts)}`;
  return `The replica ${name} (version ${version}) ${guards}${notifies ? ' and sends the messages' : ''}.`;
}
