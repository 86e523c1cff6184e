// Begins and ends the daemon's work as this replica gets and loses it. See src/store/replicas/membership.ts.
import type { LiveConfig } from '../config/live.ts';
import { accountOf, accountScope, type Follower, type Scope, type Taking } from '../store/replicas/membership.ts';
import type { Log } from '../world/world.ts';

/** Work of one kind. What is begun twice is begun once, and what is not there ends at once. */
export interface Work {
  begin(how: Taking): Promise<void>;
  /** In good order: another replica goes on with it. */
  end(): Promise<void>;
  /** At once: nothing can be recorded any more. */
  abandon(): Promise<void>;
}

export interface Works {
  readonly account: (name: string) => Work;
  /** Of all accounts. */
  readonly abandonAccounts: Work['abandon'];
  readonly notify: Work;
  readonly clock: Work;
}

/** All work that a configuration asks for, in the order in which it begins. */
export function scopesOf({ config }: LiveConfig): readonly Scope[] {
  return ['notify', ...config.accounts.map(({ name }) => accountScope(name)), 'clock'];
}

export function followerOf(works: Works, log: Log): Follower {
  const workOf = (scope: Scope) => {
    if (scope === 'notify' || scope === 'clock') return works[scope];
    return works.account(accountOf(scope) ?? '');
  };
  const noting = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      log.error({ work: what, err: error }, 'a task of this process could not start or end');
    }
  };
  return {
    taken: (scope, how) => noting(scope, () => workOf(scope).begin(how)),
    release: (scope) => noting(scope, () => workOf(scope).end()),
    abandon: (scope) => noting(scope, () => workOf(scope).abandon()),
    lost: async () => {
      const all = [works.abandonAccounts, works.notify.abandon, works.clock.abandon];
      await Promise.all(all.map((abandon) => noting('all', abandon)));
    },
  };
}
