// Lets an agency live through days: emails leave, bounces are polled, the guard's actions are carried out, people are notified.

import type { Observation } from '../../../src/account/record/observe.ts';
import type { DnsAnswer } from '../../../src/core/answers.ts';
import type { AccountState } from '../../../src/core/mailbox.ts';
import type { WarmupMode } from '../../../src/core/policy.ts';
import { type EpochMs, hourMs, minuteMs } from '../../../src/core/time.ts';
import {
  firstDayMs,
  firstSlot,
  momentOf,
  SimulatedMailbox,
  sendingSlots,
  slotMs,
  slotsADay,
  type Trouble,
} from './agency.ts';
import { account, api, type Desk, openDesk } from './desk.ts';

/** Moments between which something is so. */
interface Span {
  readonly from: EpochMs;
  readonly until: EpochMs;
}

export interface Life {
  readonly mode: WarmupMode;
  readonly mailboxes: number;
  readonly days: number;
  readonly seed: number;
  readonly troubles: readonly Trouble[];
  /** The DNS of a domain fails. */
  readonly dns: (Span & { readonly domain: string }) | null;
  readonly keyRevoked: Span | null;
  readonly storeFull: Span | null;
}

/** After something happened people are notified by the minute for so long. */
const busyMs = hourMs;
/** A poll due in an outage is stale after three of its cadences. */
const staleAfterMs = 45 * minuteMs;
const lastSlot = slotsADay - 1;
const slotsAnHour = 4;
/** Between two bounces every mailbox is read at noon, at three, at six, and at night. */
const readAt = [48, 60, 71];

/** Everything that its channels were given, and the steps that it was made of. */
export async function live(life: Life) {
  using desk = await openDesk(firstDayMs - hourMs, life.seed);
  const mailboxes = Array.from(
    { length: life.mailboxes },
    (_, number) => new SimulatedMailbox(number, life.mode, life.seed),
  );
  desk.fleet.putAccount(accountState(false));
  await list(desk, mailboxes);
  const days = new Days(desk, mailboxes, life);
  for (let day = 0; day < life.days; day += 1) await days.next(day);
  const lived = { heard: [...desk.heard], transitions: desk.transitions() };
  await desk.close();
  return lived;
}

class Days {
  readonly #desk: Desk;
  readonly #mailboxes: readonly SimulatedMailbox[];
  readonly #life: Life;
  /** Who bounced and was not read since... */
  readonly #bounced = new Set<SimulatedMailbox>();
  /** ...and who is to be read in any case. */
  readonly #unread = new Set<SimulatedMailbox>();
  readonly #known = new Set<SimulatedMailbox>();
  #busyUntil = 0;
  #dnsFails = false;

  constructor(desk: Desk, mailboxes: readonly SimulatedMailbox[], life: Life) {
    this.#desk = desk;
    this.#mailboxes = mailboxes;
    this.#life = life;
  }

  async next(day: number): Promise<void> {
    for (const mailbox of this.#mailboxes) mailbox.begin(day);
    for (let slot = 0; slot < slotsADay; slot += 1) await this.#slot(day, slot);
  }

  async #slot(day: number, slot: number): Promise<void> {
    const now = momentOf(day, slot / slotsAnHour);
    await this.#until(now);
    const sends = slot >= firstSlot && slot < firstSlot + sendingSlots;
    for (const one of sends || slot === lastSlot ? this.#mailboxes : []) {
      if (one.send(slot, now, this.#life.troubles)) this.#noteBounce(one);
      if (slot === lastSlot || readAt.includes(slot)) this.#unread.add(one);
    }
    const { keyRevoked, storeFull } = this.#life;
    const revoked = isWithin(keyRevoked, now);
    this.#revoke(revoked, keyRevoked, now);
    this.#desk.storeIsFull = isWithin(storeFull, now);
    if (!revoked && !this.#desk.storeIsFull) await this.#poll(now, slot);
    const isDue = slot % slotsAnHour === 0 || revoked || now < this.#busyUntil;
    if (isDue && !this.#desk.storeIsFull) await this.#desk.recorder.timePassed();
  }

  /** Its domain is read with it: what a domain is judged by must not know of its bounces before its emails. */
  #noteBounce(one: SimulatedMailbox): void {
    this.#bounced.add(one);
    for (const other of this.#mailboxes) if (other.domain === one.domain) this.#unread.add(other);
  }

  /** Moves the clock, and lets people be notified on the way. */
  async #until(moment: EpochMs): Promise<void> {
    const { clock } = this.#desk;
    const watched = near(this.#life.storeFull, moment);
    const isBusy = clock.now() < this.#busyUntil || watched || this.#isOpen();
    const stepMs = isBusy ? minuteMs : slotMs;
    while (clock.now() < moment) {
      await clock.advance(Math.min(stepMs, moment - clock.now()));
      if (watched) await this.#desk.watchStore();
      if (!this.#desk.storeIsFull) await this.#desk.collect();
    }
  }

  #isOpen(): boolean {
    return this.#desk.fleet.incidents().some(({ endedAt, announced }) => endedAt === null && !announced?.updated);
  }

  #revoke(revoked: boolean, span: Span | null, now: EpochMs): void {
    this.#desk.fleet.putAccount(accountState(revoked, span?.from));
    const since = span?.from ?? now;
    this.#desk.missedSince = revoked && now - since > staleAfterMs ? since : null;
    if (span && now === span.until) for (const one of this.#mailboxes) this.#unread.add(one);
    if (revoked) this.#busyUntil = now + busyMs;
  }

  async #poll(now: EpochMs, slot: number): Promise<void> {
    const desk = this.#desk;
    const troubled = this.#life.troubles.some((one) => one.from <= now && now < one.until + 24 * hourMs);
    if (slot === 24 || (troubled && slot % slotsAnHour === 0)) await list(desk, this.#mailboxes);
    await this.#checkDns(now);
    const anyHeld = desk.fleet.breaker(api).entries.some((entry) => entry.held);
    const asked = anyHeld || slot === lastSlot ? this.#mailboxes : [...new Set([...this.#bounced, ...this.#unread])];
    for (const one of asked) {
      const held = desk.fleet.mailbox(account, one.id)?.verdict?.answer.reason === 'circuit_breaker';
      const bounced = this.#bounced.delete(one) || held || !this.#known.has(one);
      if (!this.#unread.delete(one) && !bounced) continue;
      this.#known.add(one);
      if (bounced) await observe(desk, one.id, { route: 'warmup', observed: { at: now, answer: one.warmup() } });
      await observe(desk, one.id, { route: 'stats', observed: { at: now, answer: { rows: one.stats() } } });
      if (await carryOut(desk, one)) this.#busyUntil = now + busyMs;
    }
    if ([...desk.fleet.alerts()].some(({ since }) => since > now - slotMs)) this.#busyUntil = now + busyMs;
  }

  /** Measured every hour while it fails, and once when it passes again. */
  async #checkDns(now: EpochMs): Promise<void> {
    const { dns } = this.#life;
    if (!dns || (now - firstDayMs) % hourMs !== 0) return;
    const fails = isWithin(dns, now);
    if (!fails && !this.#dnsFails) return;
    this.#dnsFails = fails;
    for (const { id, domain } of this.#mailboxes.filter((one) => one.domain === dns.domain)) {
      await observe(this.#desk, id, { route: 'dns', observed: { at: now, answer: dnsAnswer(domain, !fails, now) } });
    }
    this.#busyUntil = now + busyMs;
  }
}

async function observe(desk: Desk, id: string, observation: Observation): Promise<void> {
  await desk.recorder.observed(id, observation, desk.recorder.asking());
}

/** What the actor does, with an API that says yes. Whether there was anything to do. */
async function carryOut({ fleet, recorder, clock }: Desk, one: SimulatedMailbox): Promise<boolean> {
  const planned = fleet.mailbox(account, one.id)?.action;
  if (planned?.state !== 'planned') return false;
  const open = await recorder.opened(one.id, planned.id);
  if (!open) return false;
  one.change(open.targetMode);
  const askPlace = recorder.asking();
  const observed = { at: clock.now(), answer: one.warmup() };
  await recorder.settled(one.id, open.id, { kind: 'confirmed', observed, askPlace });
  return true;
}

async function list({ recorder, clock }: Desk, mailboxes: readonly SimulatedMailbox[]): Promise<void> {
  const entries = mailboxes.map((one) => one.entry());
  await recorder.listed({ at: clock.now(), answer: { mailboxes: entries, truncated: false } });
}

function isWithin(span: Span | null, now: EpochMs): boolean {
  return span !== null && span.from <= now && now < span.until;
}

function near(span: Span | null, now: EpochMs): boolean {
  return span !== null && span.from - hourMs <= now && now <= span.until + 2 * hourMs;
}

function dnsAnswer(domain: string, pass: boolean, now: EpochMs): DnsAnswer {
  const record = { status: 'pass', pass: true, record: 'v' };
  const dkim = pass ? record : { status: 'fail', pass: false, record: null };
  return { domain, checkedAt: new Date(now).toISOString(), records: { spf: record, dkim, dmarc: record } };
}

function accountState(keyRejected: boolean, since: EpochMs | null = null): AccountState {
  return {
    name: account,
    requestsPerMinute: 600,
    limitPerMinute: 600,
    configuredPerMinute: 600,
    isSlow: false,
    lastSuccessAt: firstDayMs,
    failingSince: keyRejected ? since : null,
    lastFailure: keyRejected ? 'the API answers 401' : null,
    keyRejected,
    rejections: keyRejected ? 2 : 0,
    keyWrites: null,
    throttledLastHour: 0,
    watchedSince: firstDayMs,
    listed: true,
    unlisted: [],
    health: 'ok',
    apiHealth: { status: 'ok', clockAheadMs: 0 },
    queueLength: 0,
    oldestDueAt: null,
    forecast: null,
  };
}
