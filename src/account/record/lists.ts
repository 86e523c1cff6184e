// Records a mailbox list: the mailboxes that are new, changed, absent or gone, and the alerts that follow.

import { actionUnder } from '../../core/action.ts';
import { type AlertChanges, bothChanges } from '../../core/alert.ts';
import type { MailboxList, Observed } from '../../core/answers.ts';
import { type BreakerState, moveEntries, withdraw } from '../../core/guard/breaker.ts';
import { type GuardedElsewhere, type MailboxState, mailboxKey, mailboxUnder } from '../../core/mailbox.ts';
import { idlePatterns, idleText } from '../../core/mailbox-pattern.ts';
import type { EpochMs } from '../../core/time.ts';
import type { AccountMove } from '../../store/records.ts';
import { nothingMoved } from '../commit/group-commit.ts';
import type { AccountAlerts, ListFindings } from './account-alerts.ts';
import type { RecorderOptions, RecorderRooms } from './guarded-account.ts';
import { alertsMoved, namesakesOf, type Rival, rivalOf } from './guards.ts';
import { compareRoster, type RosterChanges, withHistory } from './roster.ts';

const namesLogged = 20;

export interface ListsParts {
  readonly account: RecorderOptions;
  readonly alerts: AccountAlerts;
  readonly put: (mailbox: MailboxState) => void;
  readonly putAlerts: (alerts: AlertChanges) => void;
  readonly left: (id: string) => void;
}

type ListMove = AccountMove & { readonly ids: readonly string[] };

interface Following extends Pick<ListFindings, 'breaker'> {
  readonly alerts: AlertChanges;
  readonly moves: readonly ListMove[];
  readonly at: EpochMs;
}

/** Lists of one account. All methods are to be called within a turn. */
export class Lists {
  readonly #rooms: RecorderRooms;
  readonly #parts: ListsParts;
  readonly #absentSince = new Map<string, EpochMs>();
  /** Patterns without mailboxes that were logged last. */
  #saidIdle = '';
  /** Mailboxes with the id of another account's mailbox that were logged last. */
  #saidNamesakes = '';

  constructor(rooms: RecorderRooms, parts: ListsParts) {
    this.#rooms = rooms;
    this.#parts = parts;
  }

  /** Records a list. Rejects if the store cannot be written. */
  async listed(list: Observed<MailboxList>): Promise<RosterChanges> {
    const { account, selects, expects } = this.#parts.account;
    const known = [...this.#rooms.fleet.mailboxesOf(account)];
    const rivals = this.#rivalsIn(list);
    const elsewhere = new Map(
      [...rivals].flatMap(([id, { mailbox, stays }]) => (stays && selects(mailbox) ? [[id, nameOf(mailbox)]] : [])),
    );
    const expected = { selects, elsewhere, expects: expects() };
    const changes = compareRoster({ account, known, list, ...expected, absentSince: this.#absentSince });
    const { arrived, moves } = await this.#remembering(changes, rivals);
    const { changed, absent, left } = changes;
    const breaker = this.#breakerAfter(left, moves);
    const moved = moves.map(({ from, to, ids }) =>
      alertsMoved(this.#rooms.fleet, { from, to, ids: new Set(ids) }, list.at),
    );
    const idle = this.#idleIn(list.answer, changes);
    const alerts = moved.reduce(bothChanges, this.#parts.alerts.listed(changes, { breaker, idle, now: list.at }));
    const news = arrived.length + absent.length + left.length + alerts.changed.length + alerts.dropped.length;
    if (news === 0) for (const mailbox of changed) this.#add(mailbox);
    else await this.#record({ ...changes, arrived }, { alerts, breaker, moves, at: list.at });
    return { ...changes, arrived };
  }

  /** Mailboxes of the list that other accounts of the API have, by id. */
  #rivalsIn({ at: now, answer }: Observed<MailboxList>): ReadonlyMap<string, Rival> {
    const { account, accountsOfApi } = this.#parts.account;
    const accounts = accountsOfApi();
    const { fleet } = this.#rooms;
    const rivals = new Map<string, Rival>();
    const namesakes: [account: string, email: string][] = [];
    if (accounts.length < 2) return rivals;
    for (const entry of answer.mailboxes) {
      const rival = rivalOf(entry, { fleet, account, accounts, now });
      if (rival) rivals.set(entry.id, rival);
      else for (const other of namesakesOf(entry, { fleet, account, accounts })) namesakes.push([other, entry.email]);
    }
    this.#sayNamesakes(namesakes);
    return rivals;
  }

  #sayNamesakes(namesakes: readonly (readonly [account: string, email: string])[]): void {
    const said = namesakes.join();
    if (said === this.#saidNamesakes) return;
    this.#saidNamesakes = said;
    if (namesakes.length === 0) return;
    const accounts = [...new Set(namesakes.map(([other]) => other))];
    const mailboxes = [...new Set(namesakes.map(([, email]) => email))];
    this.#rooms.world.log.warn(
      {
        account: this.#parts.account.account,
        accounts,
        count: mailboxes.length,
        mailboxes: mailboxes.slice(0, namesLogged),
      },
      'accounts of the same API have other addresses under the same ids: each is guarded as a mailbox of its own',
    );
  }

  async #record(changes: RosterChanges, { alerts, breaker, moves, at }: Following): Promise<void> {
    const { fleet, store } = this.#rooms;
    const { account, api } = this.#parts.account;
    const { arrived, changed, absent, left } = changes;
    const present = [...arrived, ...changed];
    const moved = breaker && { api, state: breaker, before: fleet.breaker(api) };
    await store.recordList({ account, moves, present, absent, left, leftAt: at, alerts, breaker: moved });
    if (breaker) fleet.putBreaker(api, breaker);
    if (moves.length > 0) for (const off of await store.writesOff()) fleet.putWritesOff(off);
    this.#showMoved(moves);
    for (const mailbox of present) this.#absentSince.delete(mailbox.id);
    for (const mailbox of absent) if (!this.#absentSince.has(mailbox.id)) this.#absentSince.set(mailbox.id, at);
    for (const mailbox of [...present, ...absent]) this.#parts.put(mailbox);
    for (const { id } of left) this.#parts.left(id);
    this.#parts.putAlerts(alerts);
  }

  /** Returns the patterns that match no mailbox, or null if the list cannot tell. Logs them if they changed. */
  #idleIn({ mailboxes, truncated }: MailboxList, { absent, shortage }: RosterChanges): ListFindings['idle'] {
    if (truncated || mailboxes.length === 0 || (shortage !== null && shortage.missing.length > 0)) return null;
    const { account, patterns } = this.#parts.account;
    const idle = idlePatterns(patterns().ofAccount, [...mailboxes, ...absent]);
    const said = idle.map(idleText);
    if (said.join() !== this.#saidIdle) {
      this.#saidIdle = said.join();
      const { log } = this.#rooms.world;
      if (said.length > 0)
        log.warn({ account, patterns: said }, 'the configuration has patterns that match no mailbox');
      else log.info({ account }, 'every pattern of the configuration matches a mailbox again');
    }
    return idle;
  }

  /** Adds an entry without effect on alerts to the batch, like any answer. */
  #add(mailbox: MailboxState): void {
    const { fleet, group } = this.#rooms;
    const before = fleet.mailbox(mailbox.account, mailbox.id);
    if (before) group.add(before, { ...nothingMoved, mailbox, remembers: true, answered: ['mailboxes'] });
    this.#absentSince.delete(mailbox.id);
    this.#parts.put(mailbox);
  }

  #showMoved(moves: readonly ListMove[]): void {
    const { fleet } = this.#rooms;
    for (const { from, to, ids } of moves) {
      const mailboxes = ids.flatMap((id) => fleet.mailbox(from, id) ?? []);
      for (const mailbox of mailboxes) {
        for (const action of fleet.actionsOf(mailbox)) fleet.putAction(actionUnder(action, to));
        fleet.removeMailbox(from, mailbox.id);
      }
      this.#parts.account.others.tookFrom(from, mailboxes);
    }
  }

  /** Returns the arrived mailboxes. A mailbox that returns, or comes from another account, keeps its history. */
  async #remembering(
    { arrived, absent, gone }: RosterChanges,
    rivals: ReadonlyMap<string, Rival>,
  ): Promise<{ readonly arrived: readonly MailboxState[]; readonly moves: readonly ListMove[] }> {
    if (arrived.length === 0) return { arrived, moves: [] };
    const { account, api, accountsOfApi } = this.#parts.account;
    const strangers = arrived.filter(({ id }) => !rivals.has(id));
    const departed = await this.#rooms.store.departed(account, strangers, { api, guarded: accountsOfApi() });
    const own = withHistory(
      strangers,
      [...departed, ...absent, ...gone].map((mailbox) => mailboxUnder(mailbox, account)),
    );
    const byId = new Map(own.map((mailbox) => [mailbox.id, mailbox]));
    const taken = arrived.flatMap(({ id }) => rivals.get(id)?.mailbox ?? []);
    const withAll = ({ id, email, entry }: MailboxState, before: MailboxState) => ({
      ...mailboxUnder(before, account),
      ...{ id, email, entry, missingLists: 0 },
    });
    const from = Map.groupBy([...taken, ...departed.filter(({ id }) => byId.has(id))], (one) => one.account);
    from.delete(account);
    return {
      arrived: arrived.map((mailbox) => {
        const rival = rivals.get(mailbox.id);
        return rival ? withAll(mailbox, rival.mailbox) : (byId.get(mailbox.id) ?? mailbox);
      }),
      moves: [...from].map(([name, mailboxes]) => ({ from: name, to: account, ids: mailboxes.map(({ id }) => id) })),
    };
  }

  /** Returns the breaker after departures and moves, or null if nothing changes. */
  #breakerAfter(left: readonly MailboxState[], moves: readonly ListMove[]): BreakerState | null {
    const before = this.#rooms.fleet.breaker(this.#parts.account.api);
    const without = left.reduce((state, { account, id }) => withdraw(state, mailboxKey(account, id)), before);
    const after = moveEntries(without, moves);
    return after === before ? null : after;
  }
}

function nameOf({ account, id, email }: MailboxState): GuardedElsewhere {
  return { account, id, email };
}
