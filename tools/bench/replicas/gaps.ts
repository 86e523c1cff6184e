// How long an account is not polled while one of three replicas ends, by SIGTERM and by kill -9: seen from the mailbox APIs.
import { setTimeout as sleep } from 'node:timers/promises';
import type { OtherApi } from '../../../test/support/other-api.ts';
import type { TestPostgres } from '../../../test/support/postgres.ts';
import { ReplicaCrew } from '../../../test/support/replica-crew.ts';

const accounts = ['a', 'b', 'c', 'd', 'e', 'f'];
const replicas = 3;
/** After an end all is as before again within this. */
const watchedMs = 30_000;

export interface Gaps {
  /** The longest time without a request of an account while nothing ended, milliseconds. */
  readonly usual: number;
  readonly handover: number;
  readonly takeover: number;
}

/** The longest time between two requests of one account from then on, milliseconds. */
function longestGap(apis: Iterable<OtherApi>, fromMs: number): number {
  let longest = 0;
  for (const { log } of apis) {
    const times = [...log.filter(({ at }) => at >= fromMs).map(({ at }) => at), Date.now()];
    for (const [index, at] of times.entries()) longest = Math.max(longest, at - (times[index - 1] ?? fromMs));
  }
  return longest;
}

async function watched(crew: ReplicaCrew): Promise<number> {
  const from = Date.now();
  await sleep(watchedMs);
  return longestGap(crew.accounts.values(), from);
}

/** The accounts' owners: the one with the most ends, and begins again. */
export async function endingGaps(postgres: TestPostgres): Promise<Gaps> {
  await using crew = await ReplicaCrew.start(postgres, replicas, accounts);
  const busiest = async () => {
    const owned = Map.groupBy((await crew.owners()).values(), (slot) => slot);
    const [most] = [...owned].toSorted(([, one], [, other]) => other.length - one.length);
    if (!most) throw new Error('nobody has an account');
    return most[0];
  };
  const usual = await watched(crew);
  const ended = await busiest();
  ended.daemon.kill('SIGTERM');
  const handover = await watched(crew);
  await ended.daemon.ended;
  crew.restart(ended);
  await crew.untilShared();
  await (await busiest()).daemon.killNow();
  return { usual, handover, takeover: await watched(crew) };
}
