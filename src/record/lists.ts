// A mailbox list becomes committed facts: who is new, changed, absent, gone, and the alerts that this moves.
import { withdraw } from '../guard/breaker.ts';
import type { AlertChanges } from '../model/alert.ts';
import type { MailboxList, Observed } from '../model/answers.ts';
import type { BreakerState } from '../model/breaker.ts';
import { type MailboxState, mailboxKey } from '../model/mailbox.ts';
import { idlePatterns, idleText } from '../model/mailbox-pattern.ts';
import type { EpochMs } from '../model/time.ts';
import type { ListRecord, StoredBreaker } from '../store/records.ts';
import { inTurns, nextTurn, turnAfter } from '../world.ts';
import type { AccountAlerts, Listed } from './account-alerts.ts';
import { showStored } from './breakers.ts';
import type { RecorderOptions, RecorderRooms } from './guarded-account.ts';
import { isActive } from './plan.ts';
import { withHistory } from './returning.ts';
import { type RosterChanges, Rosters } from './roster.ts';

export interface ListsParts {
  readonly account: RecorderOptions;
  readonly alerts: AccountAlerts;
  /** Puts a mailbox into the picture. */
  readonly put: (mailbox: MailboxState) => void;
  readonly putAlerts: (alerts: AlertChanges) => void;
  /** The mailbox has left. */
  readonly left: (id: string) => void;
}

/** Of one account. Everything is to be called within a turn. */
export class Lists {
  readonly #rooms: RecorderRooms;
  readonly #parts: ListsParts;
  readonly #absentSince = new Map<string, EpochMs>();
  readonly #rosters = new Rosters();
  /** What the log said of patterns that match no mailbox. */
  #saidIdle = '';

  constructor(rooms: RecorderRooms, parts: ListsParts) {
    this.#rooms = rooms;
    this.#parts = parts;
  }

  /** Takes in a list. Rejects when the store can't be written. */
  async listed(list: Observed<MailboxList>): Promise<RosterChanges> {
    const { account, selects, expects } = this.#parts.account;
    const known = this.#rooms.group.mailboxesOf(account);
    const expected = { selects, expects: expects() };
    const changes = this.#rosters.compare({ account, known, list, ...expected, absentSince: this.#absentSince });
    await turnAfter(list.answer.mailboxes);
    const arrived = await this.#remembering(changes);
    const { changed, absent, left } = changes;
    // What is remembered of those who are back, what follows from the list, and what is shown of it: a turn each.
    if (arrived.length + absent.length + left.length > 0) await nextTurn();
    const breaker = this.#withoutLeft(left);
    const idle = this.#idleIn(list.answer, changes);
    const alerts = await this.#parts.alerts.listed(changes, { breaker, idle, now: list.at });
    const news = arrived.length + absent.length + left.length + alerts.changed.length + alerts.dropped.length;
    if (news === 0 && changed.every((mailbox) => this.#mayWait(mailbox))) {
      for (const mailbox of changed) this.#stage(mailbox);
    } else await this.#record({ ...changes, arrived }, { alerts, breaker, idle, at: list.at });
    return { ...changes, arrived };
  }

  async #record(
    changes: RosterChanges,
    {
      alerts,
      breaker,
      idle,
      at,
    }: { readonly alerts: AlertChanges; readonly at: EpochMs } & Pick<Listed, 'breaker' | 'idle'>,
  ): Promise<void> {
    const { fleet, store } = this.#rooms;
    const { account, api } = this.#parts.account;
    const { arrived, changed, absent, left } = changes;
    const present = [...arrived, ...changed];
    const recordOf = (breaker: BreakerState | null, alerts: AlertChanges): ListRecord => {
      const moved = breaker && { api, state: breaker, before: fleet.breaker(api), again };
      return { account, present, absent, left, leftAt: at, alerts, breaker: moved };
    };
    const again = async (stored: StoredBreaker) => {
      showStored(fleet, api, stored);
      const breaker = this.#withoutLeft(left);
      record = recordOf(breaker, await this.#parts.alerts.listed(changes, { breaker, idle, now: at }));
      return record;
    };
    let record = recordOf(breaker, alerts);
    await store.recordList(record);
    if (record.breaker) fleet.putBreaker(api, record.breaker.state);
    await nextTurn();
    for (const mailbox of present) this.#absentSince.delete(mailbox.id);
    for (const mailbox of absent) if (!this.#absentSince.has(mailbox.id)) this.#absentSince.set(mailbox.id, at);
    await inTurns([...present, ...absent], (piece) => {
      for (const mailbox of piece) this.#parts.put(mailbox);
    });
    await inTurns(left, (piece) => {
      for (const { id } of piece) this.#parts.left(id);
    });
    this.#parts.putAlerts(record.alerts);
  }

  /** The patterns of the account that match no mailbox; null when the list can't say. Logged when they are others. */
  #idleIn({ mailboxes, truncated }: MailboxList, { absent, shortage }: RosterChanges): Listed['idle'] {
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

  /** Whether an entry is all that is new in the list about the mailbox: it waits for others to be committed with, as any calm answer. */
  #mayWait(mailbox: MailboxState): boolean {
    const { group } = this.#rooms;
    const before = group.mailbox(mailbox.account, mailbox.id);
    if (!before || !group.waits || isActive(mailbox.action)) return false;
    const { email, missingLists, memory } = before;
    return email === mailbox.email && missingLists === mailbox.missingLists && memory === mailbox.memory;
  }

  #stage(mailbox: MailboxState): void {
    const { put } = this.#parts;
    // What is lost the next list brings again.
    this.#rooms.group.stage(mailbox, { answered: 'mailboxes', decision: null }, { committed: put, lost: () => {} });
  }

  /** The arrived mailboxes; those that come back with what they were remembered by. */
  async #remembering({ arrived, absent, gone }: RosterChanges): Promise<readonly MailboxState[]> {
    if (arrived.length === 0) return arrived;
    const departed = await this.#rooms.store.departed(this.#parts.account.account, arrived);
    return withHistory(arrived, [...departed, ...absent, ...gone]);
  }

  /** The breaker without those who left; null when that changes nothing. */
  #withoutLeft(left: readonly MailboxState[]): BreakerState | null {
    const before = this.#rooms.fleet.breaker(this.#parts.account.api);
    const after = left.reduce((state, { account, id }) => withdraw(state, mailboxKey(account, id)), before);
    return after === before ? null : after;
  }
}
