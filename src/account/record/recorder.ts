// Turns answers and outcomes into committed facts: observe, decide, record, then update the fleet.

import {
  type Action,
  actionAfter,
  actionUnder,
  isGuardActionKind,
  type OpenAction,
  type Outcome,
} from '../../core/action.ts';
import { type AlertChanges, bothChanges } from '../../core/alert.ts';
import type { MailboxList, Observed } from '../../core/answers.ts';
import { type BreakerState, moveEntries, withdraw } from '../../core/guard/breaker.ts';
import { haveShrunk } from '../../core/guard/lost-counts.ts';
import { aheadMs, type MailboxName, type MailboxState, mailboxKey, mailboxUnder } from '../../core/mailbox.ts';
import { idlePatterns } from '../../core/mailbox-pattern.ts';
import type { Policy } from '../../core/policy.ts';
import type { EpochMs } from '../../core/time.ts';
import type { AccountMove, AnswerRecord } from '../../store/writes.ts';
import { isMoving, nothingMoved } from '../commit/group-commit.ts';
import { AccountAlerts, type ListFindings } from './account-alerts.ts';
import { type AnswerContext, afterAnswer, afterSettlement } from './after-answer.ts';
import type { RecorderOptions, RecorderRooms } from './guarded-account.ts';
import { AnswerOrder, type AskPlace, type Observation } from './observe.ts';
import { withDisplaced } from './persons.ts';
import { actionId, isActive, isFromBefore, isOutcome, type Settlement, writesOffReason } from './plan.ts';
import { alertsMoved, type Rival, rivalOf } from './rivals.ts';
import { compareRoster, type RosterChanges, runningIn, withHistory } from './roster.ts';

type ListMove = AccountMove & { readonly ids: readonly string[] };

interface Following extends Pick<ListFindings, 'breaker'> {
  readonly alerts: AlertChanges;
  readonly moves: readonly ListMove[];
  readonly at: EpochMs;
}

export class Recorder {
  readonly #rooms: RecorderRooms;
  readonly #options: RecorderOptions;
  readonly #order = new AnswerOrder();
  readonly #alerts: AccountAlerts;
  readonly #absentSince = new Map<string, EpochMs>();

  constructor(rooms: RecorderRooms, options: RecorderOptions) {
    this.#rooms = rooms;
    this.#options = options;
    this.#alerts = new AccountAlerts(rooms, options, (id) => this.hasRead(id, 'stats') && this.hasRead(id, 'warmup'));
  }

  /** Returns `otherwise` if the account's loop has ended by then. `settled()` and `dropPlanned()` record in any case. */
  #inTurn<Value, Otherwise>(otherwise: Otherwise, work: () => Promise<Value>): Promise<Value | Otherwise> {
    return this.#rooms.turns.take(async () => (this.#options.ended() ? otherwise : work()));
  }

  asking(): AskPlace {
    return this.#order.asking();
  }

  /**
   * Returns null if the mailbox has left, 'outdated' if the request has to be repeated, and 'ended' if the loop has
   * ended or this process does not own the account. Rejects if the answer changes alerts or actions and the store
   * cannot be written: then nothing has changed.
   */
  observed(
    mailboxId: string,
    observation: Observation,
    askPlace: AskPlace,
  ): Promise<MailboxState | 'outdated' | 'ended' | null> {
    const { route } = observation;
    return this.#inTurn('ended', async () => {
      const before = this.#mailbox(mailboxId);
      if (!before) return null;
      // Checked within the turn, so that events during the wait count, too.
      const freshness = this.#order.freshnessOf(route, mailboxId, askPlace);
      if (freshness === 'outdated') return freshness;
      if (freshness === 'superseded') return before;
      const isOld = route === 'warmup' && isFromBefore(before, observation.observed, this.#options.words);
      const mailbox = isOld ? before : await this.#record(before, observation, route);
      this.#order.taken(route, mailboxId, askPlace);
      return mailbox;
    });
  }

  /** Does nothing until both answers were read, or while a POST may be in progress: the state may be older. */
  judgedAgain(mailboxId: string): Promise<void> {
    return this.#inTurn(undefined, async () => {
      const before = this.#mailbox(mailboxId);
      const known = this.hasRead(mailboxId, 'warmup') && this.hasRead(mailboxId, 'stats');
      if (!before?.warmup || !known || before.action?.state === 'open') return;
      await this.#record(before, { route: 'warmup', observed: before.warmup }, null);
    });
  }

  #mailbox(id: string): MailboxState | undefined {
    return this.#rooms.fleet.mailbox(this.#options.account, id);
  }

  async #record(
    before: MailboxState,
    observation: Observation,
    answered: Observation['route'] | null,
  ): Promise<MailboxState> {
    const { fleet, group, tally, world } = this.#rooms;
    const { api } = this.#options;
    const now = world.clock.now();
    const policy = this.#options.policyFor(before);
    const context = this.#answerContext(before.id, { policy, now, answered });
    const { mailbox, changes, decision, actions, confirmed, breaker } = afterAnswer(before, observation, context);
    const acted = confirmed?.by ? null : confirmed;
    const { route } = observation;
    const outside = { before, changes };
    const judged = decision !== null;
    const alerts = this.#alerts.after({ mailbox, policy, now, route, actions, acted, breaker, outside, judged });
    const record: AnswerRecord = {
      ...{ mailbox, remembers: true, answered: answered ? [answered] : [], changes, actions, alerts },
      decisions: decision ? [decision] : [],
      breaker: breaker && { api, state: breaker, before: fleet.breaker(api) },
    };
    if (isMoving(record)) await group.commitNow(record);
    else group.add(before, record);
    if (breaker) fleet.putBreaker(api, breaker);
    if (confirmed) {
      this.#order.wrote(before.id);
      this.#count(confirmed, 'confirmed');
    }
    if (decision) tally.decision(before.account, decision.verdict.action, decision.verdict.reason);
    this.#show(mailbox, actions, alerts);
    return mailbox;
  }

  /** Returns true if this process, not an earlier one, has read that answer of the mailbox. */
  hasRead(mailboxId: string, route: 'stats' | 'warmup'): boolean {
    return this.#order.hasTaken(route, mailboxId);
  }

  /** Records the intent to POST. Returns null if the action is no longer current. */
  opened(mailboxId: string, actionId: string): Promise<OpenAction | null> {
    return this.#inTurn(null, async () => {
      const mailbox = this.#mailbox(mailboxId);
      const action = mailbox?.action;
      if (!mailbox || !action || action.id !== actionId || !isActive(action) || action.state === 'open') return null;
      const { mode = null, status = null, config } = mailbox.warmup?.answer ?? {};
      const run = mailbox.verdict?.answer.run ?? 'unknown';
      const settings = config && {
        replyRate: config.replyRate,
        sendWindowStart: config.sendWindowStart,
        sendWindowEnd: config.sendWindowEnd,
      };
      const before = {
        mode,
        status,
        run,
        targetLimit: config?.targetDailyLimit ?? null,
        ...(settings && { settings }),
      };
      const open = actionAfter(action, { kind: 'opened', before, at: this.#rooms.world.clock.now() });
      const maySend = this.maySend(action);
      const off = maySend ? await this.#rooms.store.openIntent(open) : null;
      if (off) this.#rooms.fleet.putWritesOff(off);
      if (!maySend || off) {
        await this.#drop(mailbox, action, writesOffReason);
        return null;
      }
      this.#order.wrote(mailboxId);
      this.#rooms.fleet.putMailbox({ ...mailbox, action: open });
      this.#rooms.fleet.putAction(open);
      return open;
    });
  }

  /** `enforce: false` concerns the guard only; a write stop and an exclusion concern people, too. */
  maySend({ mailboxId, email, by }: Action): boolean {
    if (!this.#options.selects({ email, id: mailboxId })) return false;
    const policy = this.#options.policyFor({ email, id: mailboxId });
    return this.#mayAct(mailboxId, by ? { ...policy, enforce: true } : policy, this.#rooms.world.clock.now());
  }

  /** Does nothing if a poll has settled it. Returns true if the answer to a later request is recorded already. */
  settled(mailboxId: string, actionId: string, settlement: Settlement): Promise<boolean> {
    return this.#rooms.turns.take(async () => {
      const before = this.#mailbox(mailboxId);
      const open = before?.action;
      if (!before || !open || open.id !== actionId || open.state !== 'open') return false;
      const now = this.#rooms.world.clock.now();
      const policy = this.#options.policyFor(before);
      const overtaken =
        settlement.kind === 'confirmed' &&
        this.#order.freshnessOf('warmup', mailboxId, settlement.askPlace) === 'superseded';
      const apiAheadMs = aheadMs(this.#rooms.fleet.account(this.#options.account));
      const context = { policy, words: this.#options.words, now, apiAheadMs, overtaken };
      const { mailbox: ended, changes } = afterSettlement(before, open, settlement, context);
      const action = ended.action ?? open;
      const actions = withDisplaced(action, this.#rooms.world);
      const mailbox = { ...ended, action: actions.at(-1) ?? action };
      const acted =
        !action.by && (action.state === 'confirmed' || (action.state === 'unconfirmed' && open.attempts === 1));
      const outside = { before, changes };
      const happening = { mailbox, policy, now, route: null, actions, breaker: null, outside };
      const alerts = this.#alerts.after({ ...happening, acted: acted && isOutcome(settlement) ? action : null });
      await this.#rooms.store.settleIntent({ actions, mailbox, changes, alerts });
      this.#order.wrote(mailboxId);
      if (isOutcome(settlement)) this.#count(action, settlement.kind);
      this.#show(mailbox, actions, alerts);
      return overtaken;
    });
  }

  dropPlanned({ id, mailboxId }: Pick<Action, 'id' | 'mailboxId'>, why: string): Promise<void> {
    return this.#rooms.turns.take(async () => {
      const mailbox = this.#mailbox(mailboxId);
      if (mailbox?.action?.state !== 'planned' || mailbox.action.id !== id) return;
      await this.#drop(mailbox, mailbox.action, why);
    });
  }

  async #drop(before: MailboxState, planned: Action, why: string): Promise<void> {
    const now = this.#rooms.world.clock.now();
    const actions = withDisplaced(actionAfter(planned, { kind: 'dropped', detail: why, at: now }), this.#rooms.world);
    const mailbox = { ...before, action: actions.at(-1) ?? null };
    const policy = this.#options.policyFor(mailbox);
    const alerts = this.#alerts.after({ mailbox, policy, now, route: null, actions, acted: null, breaker: null });
    await this.#rooms.store.settleIntent({ actions, mailbox, changes: [], alerts });
    this.#show(mailbox, actions, alerts);
  }

  /** Returns null if the account's loop has ended, or this process does not own the account at present. */
  listed(list: Observed<MailboxList>): Promise<RosterChanges | null> {
    return this.#inTurn(null, () => this.#rooms.world.clock.busy(() => this.#listed(list)));
  }

  /** Records a list. Rejects if the store cannot be written. */
  async #listed(list: Observed<MailboxList>): Promise<RosterChanges> {
    const { account, selects, expects } = this.#options;
    const known = [...this.#rooms.fleet.mailboxesOf(account)];
    const rivals = this.#rivalsIn(list);
    const elsewhere = new Map(
      [...rivals].flatMap(([id, { mailbox, stays }]) => (stays && selects(mailbox) ? [[id, nameOf(mailbox)]] : [])),
    );
    const expected = { selects, elsewhere, expects: expects() };
    const changes = compareRoster({ account, known, list, ...expected, absentSince: this.#absentSince });
    const { arrived, moves } = await this.#remembering(changes, rivals);
    const { changed, absent, left } = changes;
    const breaker = this.#breakerWithout(left, moves);
    const moved = moves.map(({ from, to, ids }) =>
      alertsMoved(this.#rooms.fleet, { from, to, ids: new Set(ids) }, list.at),
    );
    const idle = this.#idleIn(list.answer, changes);
    const alerts = moved.reduce(bothChanges, this.#alerts.listed(changes, { breaker, idle, now: list.at }));
    const news = arrived.length + absent.length + left.length + alerts.changed.length + alerts.dropped.length;
    if (news === 0) for (const mailbox of changed) this.#addEntry(mailbox);
    else await this.#recordList({ ...changes, arrived }, { alerts, breaker, moves, at: list.at });
    return { ...changes, arrived };
  }

  #rivalsIn({ at: now, answer }: Observed<MailboxList>): ReadonlyMap<string, Rival> {
    const { account, accountsOfApi } = this.#options;
    const accounts = accountsOfApi();
    const { fleet } = this.#rooms;
    const rivals = new Map<string, Rival>();
    if (accounts.length < 2) return rivals;
    for (const entry of answer.mailboxes) {
      const rival = rivalOf(entry, { fleet, account, accounts, now });
      if (rival) rivals.set(entry.id, rival);
    }
    return rivals;
  }

  async #recordList(changes: RosterChanges, { alerts, breaker, moves, at }: Following): Promise<void> {
    const { fleet, store } = this.#rooms;
    const { account, api } = this.#options;
    const { arrived, changed, absent, left } = changes;
    const present = [...arrived, ...changed];
    const moved = breaker && { api, state: breaker, before: fleet.breaker(api) };
    const actions = actionsOfReplaced(changes, at);
    await store.recordList({ account, moves, present, absent, left, leftAt: at, actions, alerts, breaker: moved });
    for (const action of actions) fleet.putAction(action);
    if (breaker) fleet.putBreaker(api, breaker);
    if (moves.length > 0) for (const off of await store.writesOff()) fleet.putWritesOff(off);
    this.#showMoved(moves);
    for (const mailbox of present) this.#absentSince.delete(mailbox.id);
    for (const mailbox of absent) if (!this.#absentSince.has(mailbox.id)) this.#absentSince.set(mailbox.id, at);
    for (const mailbox of [...present, ...absent]) fleet.putMailbox(mailbox);
    for (const { id } of left) this.left(id);
    this.#showAlerts(alerts);
  }

  /** Returns the patterns that match no mailbox, or null if the list cannot tell. */
  #idleIn({ mailboxes, truncated }: MailboxList, { absent, shortage }: RosterChanges): ListFindings['idle'] {
    if (truncated || mailboxes.length === 0 || (shortage !== null && shortage.missing.length > 0)) return null;
    return idlePatterns(this.#options.patterns().ofAccount, [...mailboxes, ...absent]);
  }

  #addEntry(mailbox: MailboxState): void {
    const { fleet, group } = this.#rooms;
    const before = fleet.mailbox(mailbox.account, mailbox.id);
    if (before) group.add(before, { ...nothingMoved, mailbox, remembers: true, answered: ['mailboxes'] });
    this.#absentSince.delete(mailbox.id);
    fleet.putMailbox(mailbox);
  }

  #showMoved(moves: readonly ListMove[]): void {
    const { fleet } = this.#rooms;
    for (const { from, to, ids } of moves) {
      const mailboxes = ids.flatMap((id) => fleet.mailbox(from, id) ?? []);
      for (const mailbox of mailboxes) {
        for (const action of fleet.actionsOf(mailbox)) fleet.putAction(actionUnder(action, to));
        fleet.removeMailbox(from, mailbox.id);
      }
      this.#options.others.tookFrom(from, mailboxes);
    }
  }

  /** Returns the arrived mailboxes. A mailbox that returns, or comes from another account, keeps its history. */
  async #remembering(
    { arrived, absent, gone }: RosterChanges,
    rivals: ReadonlyMap<string, Rival>,
  ): Promise<{ readonly arrived: readonly MailboxState[]; readonly moves: readonly ListMove[] }> {
    if (arrived.length === 0) return { arrived, moves: [] };
    const { account, api, accountsOfApi } = this.#options;
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

  #breakerWithout(left: readonly MailboxState[], moves: readonly ListMove[]): BreakerState | null {
    const before = this.#rooms.fleet.breaker(this.#options.api);
    const without = left.reduce((state, { account, id }) => withdraw(state, mailboxKey(account, id)), before);
    const after = moveEntries(without, moves);
    return after === before ? null : after;
  }

  /** Forgets a mailbox that this account no longer has. To be called within a turn. */
  left(id: string): void {
    this.#rooms.fleet.removeMailbox(this.#options.account, id);
    this.#order.forget(id);
    this.#rooms.group.forget({ account: this.#options.account, id });
  }

  timePassed(): Promise<void> {
    return this.#inTurn(undefined, async () => {
      const alerts = this.#alerts.passed(this.#rooms.world.clock.now());
      if (alerts.changed.length + alerts.dropped.length === 0) return;
      await this.#rooms.store.recordAlerts(alerts);
      this.#showAlerts(alerts);
    });
  }

  #answerContext(
    mailboxId: string,
    { policy, now, answered }: { policy: Policy; now: EpochMs; answered: Observation['route'] | null },
  ): AnswerContext {
    const { account, words, api, rules, staleBefore } = this.#options;
    // Statistics are not judged beside a stale warm-up: its mode and status may have changed.
    const isGiven = (route: 'stats' | 'warmup') =>
      route !== 'warmup' || (this.#rooms.fleet.mailbox(account, mailboxId)?.warmup?.at ?? now) >= staleBefore('warmup');
    return {
      policy,
      mayAct: this.#mayAct(mailboxId, policy, now),
      words,
      now,
      hasRead: (route) => route === answered || (this.hasRead(mailboxId, route) && isGiven(route)),
      breaker: this.#rooms.fleet.breaker(api),
      running: () => runningIn(this.#options.accountsOfApi(), this.#rooms.fleet),
      newId: () => actionId(now, this.#rooms.world.random()),
      actionsOf: (mailbox) => this.#rooms.fleet.actionsOf(mailbox),
      timeZone: rules().timeZone,
      apiAheadMs: aheadMs(this.#rooms.fleet.account(account)),
      accountHasShrunk: (mailbox) => haveShrunk(this.#rooms.fleet.mailboxesOf(account), mailbox, now),
    };
  }

  #mayAct(mailboxId: string, policy: Policy, now: EpochMs): boolean {
    return policy.enforce && this.#rooms.fleet.writesAllowed(this.#options.account, mailboxId, now);
  }

  #count({ account, kind, by }: Action, outcome: Outcome): void {
    if (!by && isGuardActionKind(kind)) this.#rooms.tally.action(account, kind, outcome);
  }

  #show(mailbox: MailboxState, actions: readonly Action[], alerts: AlertChanges): void {
    this.#rooms.fleet.putMailbox(mailbox);
    for (const action of actions) this.#rooms.fleet.putAction(action);
    this.#showAlerts(alerts);
  }

  #showAlerts(alerts: AlertChanges): void {
    this.#rooms.fleet.putAlerts(alerts);
    if (alerts.transitions.length > 0) this.#rooms.onTransitions();
  }
}

function nameOf({ account, id, email }: MailboxState): MailboxName {
  return { account, id, email };
}

/** Ends the actions of mailboxes that left and are back under another id. The former id shows no outcome. */
function actionsOfReplaced({ gone, missed }: RosterChanges, at: EpochMs): readonly Action[] {
  const detail = 'the mailbox has another id now, so its outcome is unknown';
  return gone
    .filter((mailbox) => !missed.includes(mailbox))
    .flatMap(({ action }) => (isActive(action) ? [action] : []))
    .map((action) => (action.state === 'open' ? actionAfter(action, { kind: 'unconfirmed', detail, at }) : action))
    .map((action) => actionAfter(action, { kind: 'dropped', detail, at }));
}
