// A store in PostgreSQL: the server, what the role may do, the clock, and the process that is active.

import { nameOf, type PostgresPlace } from '../../core/store-failure.ts';
import { counted, listText, spanText } from '../../core/wording/phrases.ts';
import { skewOf } from '../../store/lease.ts';
import { connectionsAProcess } from '../../store/postgres/doubts.ts';
import type { Content, Examination } from '../../store/postgres/examination.ts';
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
  const each = `a Warmwarden process needs ${connectionsAProcess}`;
  if (free >= connectionsAProcess)
    return [store('ok', `PostgreSQL has ${counted(free, 'free connection')}, and ${each}.`)];
  const kind = content?.active ? 'warning' : 'problem';
  return [store(kind, `PostgreSQL has only ${counted(free, 'free connection')}, and ${each}. ${remedy}`)];
}

/** Another deployment in the same database, by what it has stored. */
function otherFleet({ accounts }: Content, accountNames: readonly string[]): readonly Examined[] {
  const isOther = (theirs: readonly string[]) =>
    accountNames.length > 0 && theirs.length > 0 && !theirs.some((account) => accountNames.includes(account));
  const advice = 'If it belongs to another deployment, give each deployment a database of its own.';
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
    : clock('problem', `${differ}, so a process on this machine does not become active. ${advice}`);
}

export const unknownProcess: readonly Examined[] = [
  daemon('skipped', 'No daemon answers on this machine; whether one runs elsewhere is not known.'),
];

/** Where no daemon answers on this machine. */
export function activeLines({ content }: Examination): readonly Examined[] {
  if (content === null) return unknownProcess;
  const { active } = content;
  if (active === null)
    return [
      daemon(
        'warning',
        `No daemon runs on this store: nothing is guarded. Start it: \`${commandName} run --config FILE\`.`,
      ),
    ];
  return [
    daemon(
      'ok',
      `No daemon of this configuration answers on this machine: ${active.name} is active (version ${active.version}).`,
    ),
  ];
}
