// The floor of the duty benchmark: a small process that only asks, parses and stores; measured from outside, as the daemon is.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Route } from '../../../src/core/answers.ts';
import type { FleetShape } from './bodies.ts';
import type { Cost } from './cost.ts';
import { counted } from './process.ts';

const script = fileURLToPath(new URL('./floor-process.ts', import.meta.url));

export interface FloorOrder {
  /** To which /v1/... is added. */
  readonly url: string;
  /** For its store. */
  readonly folder: string;
  readonly shape: FleetShape;
  /** How many polls of each kind the daemon made: the floor asks in these proportions. */
  readonly mix: Readonly<Partial<Record<Route, number>>>;
  /** It asks for this long before it is measured, as the daemon has: V8 compiles what runs often. */
  readonly warmMs: number;
  readonly forMs: number;
  /** Between two polls of an account; 0: as fast as eight at a time allow. */
  readonly everyMs: number;
}

export interface FloorPolls {
  readonly polls: number;
}

/** Asks for that long. The start of the process and its first polls are not counted. */
export async function floorCost(order: FloorOrder): Promise<Cost> {
  const child = fork(script);
  const pid = child.pid ?? 0;
  const failed = once(child, 'exit').then(() => {
    throw new Error('the floor of the duty benchmark failed');
  });
  failed.catch(() => {});
  await Promise.race([once(child, 'message'), failed]);
  const asked = async (forMs: number) => {
    child.send({ ...order, forMs });
    const [{ polls }] = (await Promise.race([once(child, 'message'), failed])) as [FloorPolls];
    return polls;
  };
  await asked(order.warmMs);
  const before = counted(pid);
  const polls = await asked(order.forMs);
  const after = counted(pid);
  child.disconnect();
  return {
    polls,
    seconds: order.forMs / 1_000,
    cpuMs: after.cpuMs - before.cpuMs,
    writtenBytes: after.writtenBytes - before.writtenBytes,
    rssMegabytes: after.rssMegabytes,
  };
}
