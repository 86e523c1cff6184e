// The daemon of this store: whether one runs, which version, and what it says of itself.
import { accessSync, constants } from 'node:fs';
import { socketPathOf } from '../../operations/socket.ts';
import { livingHolder } from '../../store/file/lock.ts';
import { asItsUser, presenceOf } from '../../store/file/place.ts';
import type { FleetAnswer } from '../../web/json/fleet.ts';
import { commandName } from '../../world/command-name.ts';
import { version } from '../../world/version.ts';
import { systemClock } from '../../world/world.ts';
import { askFor, silenceAdvice } from '../daemon.ts';
import { type Examined, reporter } from './examined.ts';

const daemon = reporter('daemon');

export interface SeenDaemon {
  readonly fleet: FleetAnswer;
  /** null: of a version that did not report it. */
  readonly version: string | null;
  /** How far its clock is ahead of this machine's: only a simulated one differs, as the demo's does. */
  readonly clockAheadMs: number;
}

/** Rejects when none answers. */
export async function seeDaemon(storePath: string): Promise<SeenDaemon> {
  const fleet = (await askFor(storePath, 'fleet')) as FleetAnswer;
  const told = await askFor(storePath, 'version').catch(() => null);
  const named = typeof told === 'object' && told !== null && 'version' in told ? told.version : null;
  const clockAheadMs = Date.parse(fleet.at) - systemClock().now();
  return { fleet, version: typeof named === 'string' ? named : null, clockAheadMs };
}

/** `active`: what the store says of the active process on another machine; null: there can be none. */
export function examineDaemon(
  seen: SeenDaemon | null,
  storePath: string,
  active: readonly Examined[] | null = null,
): readonly Examined[] {
  if (seen === null) return active ?? [absent(storePath)];
  const { fleet } = seen;
  return [
    saidBy(fleet),
    ...(seen.version === version ? [] : [otherVersion(seen.version)]),
    ...fleet.writes_off.map(({ reason, allow_with: command }) =>
      daemon('warning', `Writes are off (${reason}). To allow them again: \`${command}\`.`),
    ),
  ];
}

/** Its headline. Its advice leads to what stands below it on the page and in `status`, and the store's to what to do. */
function saidBy({ headline, advice, tone, store_failure: failure }: FleetAnswer): Examined {
  const said = `A daemon runs on this store. It says: ${headline}`;
  if (failure) return daemon('problem', `${said} ${advice}`);
  if (tone === 'calm' || tone === 'acted') return daemon('ok', said);
  return daemon('warning', `${said} To see what to do: \`${commandName} status\`.`);
}

function absent(storePath: string): Examined {
  const socket = socketPathOf(storePath);
  const presence = presenceOf(socket);
  if (presence === 'closed' || (presence === 'there' && !isOurs(socket)))
    return daemon(
      'skipped',
      `This user may not use the socket ${socket}, so whether a daemon runs is not known: ${asItsUser}.`,
    );
  const holder = livingHolder(storePath);
  if (holder !== null)
    return daemon('warning', `A daemon (${holder}) has this store but does not answer. ${silenceAdvice(holder)}`);
  return daemon(
    'warning',
    `No daemon runs on this store: nothing is guarded. Start it: \`${commandName} run --config FILE\`.`,
  );
}

function isOurs(socket: string): boolean {
  try {
    accessSync(socket, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function otherVersion(told: string | null): Examined {
  const theirs = told === null ? 'an earlier version' : `version ${told}`;
  return daemon('warning', `The daemon is ${theirs}, and this command is version ${version}: restart the daemon.`);
}
