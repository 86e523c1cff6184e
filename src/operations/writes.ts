// The emergency stop: switches writes to the API off or on for everything, an account or a mailbox.
import { tune } from '../alerts/condition.ts';
import { step } from '../alerts/engine.ts';
import { type WritesEnd, writesOffCondition } from '../alerts/rules/protection-rule.ts';
import type { AlertChanges } from '../core/alert.ts';
import { type MailboxState, namedMailbox } from '../core/mailbox.ts';
import type { CommandName, CommandOutcome, OperatorCommands, WritesRequest } from '../core/operator-command.ts';
import { sentence } from '../core/wording/explain.ts';
import { listText, momentText } from '../core/wording/phrases.ts';
import {
  everything,
  scopeKey,
  scopeText,
  type WriteScope,
  type WritesOff,
  writesOnCommand,
} from '../core/write-scope.ts';
import type { Audited, CommandRooms } from './audit.ts';
import { invalid, noChange, stopsAt } from './plan.ts';

export interface WritesRooms extends CommandRooms {
  /** True if an account is configured. */
  readonly knows: (account: string) => boolean;
  readonly judgeAgain: (mailboxes: Iterable<MailboxState>) => Promise<void>;
}

export function writesCommand(rooms: WritesRooms, audited: Audited): OperatorCommands['writes'] {
  const { fleet, world, rules } = rooms;
  return async (request: WritesRequest): Promise<CommandOutcome> => {
    const scope = scopeOf(request, rooms);
    if ('wrong' in scope) return invalid(scope.wrong);
    const at = world.clock.now();
    const { by, reason, forMs } = request;
    const current = fleet.writesOff(at).find((one) => scopeKey(one.scope) === scopeKey(scope)) ?? null;
    const off = request.off ? { scope, since: at, until: forMs === null ? null : at + forMs, by, reason } : null;
    const others = fleet.writesOff(at).filter((one) => one !== current);
    const rest = off ? [] : stillOff(others, world.command);
    if (!off && !current) return noChange(`Writes are already on for ${scopeText(scope)}.`, ...rest);
    const { timeZone: zone } = rules();
    const effect = [...effectOf(scope, { off, current }, zone), ...rest];
    const stopped = stopsAt({ effect, about: [scopeKey(scope), request.off, forMs, current?.since ?? null] }, request);
    if (stopped) return stopped;
    return audited(request, nameOf(scope, off, zone), async () => {
      await switchTo(rooms, off ?? scope, request);
      // Waiting actions are judged again at once: each is dropped or planned.
      await rooms.judgeAgain([...fleet.mailboxes()].filter(({ verdict }) => verdict?.answer.wanted !== 'none'));
      return { result: 'done', messages: [doneText(scope, off, { zone, command: world.command }), ...rest] };
    });
  };
}

/** Ends expired stops, and updates the alerts to those in force: after a start, and as time passes. */
export async function settleWrites(rooms: WritesRooms): Promise<void> {
  const { fleet, store, turns, world, onTransitions, knows } = rooms;
  const expired = await turns.take(async () => {
    const now = world.clock.now();
    const known = [...fleet.knownWritesOff()];
    const over = known.filter(({ until }) => until !== null && until <= now);
    const inForce = known.filter((off) => !over.includes(off) && isThere(off.scope, fleet, knows));
    const alerts = alertsOf(
      rooms,
      [...over.map((off) => [off, 'expired'] as const), ...inForce.map((off) => [off, null] as const)],
      now,
    );
    if (over.length + alerts.changed.length === 0) return over;
    await store.recordWrites({ off: [], on: over.map(({ scope }) => scopeKey(scope)), alerts });
    for (const { scope } of over) fleet.removeWritesOff(scopeKey(scope));
    fleet.putAlerts(alerts);
    if (alerts.transitions.length > 0) onTransitions();
    return over;
  });
  for (const { scope } of expired)
    world.log.warn({ scope: scopeText(scope) }, 'writes are on again: the emergency stop has expired');
  if (expired.length === 0) return;
  await rooms.judgeAgain([...fleet.mailboxes()].filter(({ verdict }) => verdict?.answer.wanted !== 'none'));
}

/** True if the account or mailbox exists: a stop over one that is gone has no alert. */
function isThere(scope: WriteScope, fleet: CommandRooms['fleet'], knows: WritesRooms['knows']): boolean {
  if (scope.kind === 'everything') return true;
  return scope.kind === 'account' ? knows(scope.account) : fleet.mailbox(scope.account, scope.mailboxId) !== undefined;
}

/** Switches writes off for a scope as `wanted` says, or on. */
function switchTo(
  rooms: WritesRooms,
  wanted: WritesOff | WriteScope,
  end: Exclude<WritesEnd, 'expired'>,
): Promise<void> {
  const { fleet, store, turns, world, onTransitions } = rooms;
  return turns.take(async () => {
    const now = world.clock.now();
    const off = 'scope' in wanted ? wanted : null;
    const key = scopeKey('scope' in wanted ? wanted.scope : wanted);
    const before = [...fleet.knownWritesOff()].find(({ scope }) => scopeKey(scope) === key);
    const about: readonly (readonly [WritesOff, WritesEnd | null])[] = off
      ? [[off, null]]
      : before
        ? [[before, { by: end.by, reason: end.reason }]]
        : [];
    const alerts = alertsOf(rooms, about, now);
    await store.recordWrites({ off: off ? [off] : [], on: off ? [] : [key], alerts });
    if (off) fleet.putWritesOff(off);
    else fleet.removeWritesOff(key);
    fleet.putAlerts(alerts);
    if (alerts.transitions.length > 0) onTransitions();
  });
}

function alertsOf(
  { fleet, world, rules, pageUrl }: WritesRooms,
  about: readonly (readonly [WritesOff, WritesEnd | null])[],
  now: number,
): AlertChanges {
  const context = { pageUrl, command: world.command, rules: rules() };
  const conditions = about.map(([off, end]) => writesOffCondition(off, end, context));
  return step(tune(conditions, context.rules), (fingerprint) => fleet.alert(fingerprint), now);
}

/** Scope of a switch. A stop can be ended even if its account or mailbox is gone. */
function scopeOf(
  { mailbox, account, off }: WritesRequest,
  { fleet, knows }: WritesRooms,
): WriteScope | { readonly wrong: string } {
  if (mailbox === null && account === null) return everything;
  if (mailbox === null && account !== null) {
    const isOff = [...fleet.knownWritesOff()].some(
      ({ scope }) => scope.kind === 'account' && scope.account === account,
    );
    if (knows(account) || (!off && isOff)) return { kind: 'account', account };
    return { wrong: `No account is called ${account}.` };
  }
  const name = mailbox ?? '';
  const among = [...fleet.mailboxes()].filter((one) => account === null || one.account === account);
  const found = namedMailbox(name, among);
  if ('mailbox' in found) {
    const { account: of, id: mailboxId, email } = found.mailbox;
    return { kind: 'mailbox', account: of, mailboxId, email };
  }
  const stops = [...fleet.knownWritesOff()].map(({ scope }) => scope).filter((scope) => scope.kind === 'mailbox');
  const gone = stops.filter((one) =>
    [one.mailboxId, one.email, `${one.account}/${one.email}`, `${one.account}/${one.mailboxId}`].includes(name),
  );
  return (!off && gone.length === 1 ? gone[0] : undefined) ?? found;
}

function nameOf(scope: WriteScope, off: WritesOff | null, zone: string): CommandName {
  const until = off?.until ? ` until ${momentText(off.until, zone)}` : '';
  const mailbox = scope.kind === 'mailbox' ? [{ account: scope.account, id: scope.mailboxId, email: scope.email }] : [];
  return {
    name: 'writes',
    command: `writes ${off ? 'off' : 'on'} for ${scopeText(scope)}${until}`,
    account: scope.kind === 'everything' ? null : scope.account,
    mailboxes: mailbox,
  };
}

function effectOf(
  scope: WriteScope,
  { off, current }: { readonly off: WritesOff | null; readonly current: WritesOff | null },
  zone: string,
): readonly string[] {
  if (!off) return [`Warmwarden will change mailboxes again: writes will be on for ${scopeText(scope)}.`];
  const replaced = current
    ? [sentence(`This replaces the emergency stop that ${current.by} set: ${current.reason}`)]
    : [];
  return [
    `Warmwarden will stop changing ${scope.kind === 'mailbox' ? 'this mailbox' : 'mailboxes'}: writes will be off for ${scopeText(scope)}${untilText(off, zone)}.`,
    'It keeps polling and notifies you of what it would have done.',
    ...replaced,
  ];
}

function doneText(
  scope: WriteScope,
  off: WritesOff | null,
  { zone, command }: { readonly zone: string; readonly command: string },
): string {
  if (!off) return `Writes are on for ${scopeText(scope)}.`;
  return `Writes are off for ${scopeText(scope)}${untilText(off, zone)}. To allow them: \`${writesOnCommand(scope, command)}\`.`;
}

function untilText({ until }: WritesOff, zone: string): string {
  return until === null ? ' until a person switches them on' : ` until ${momentText(until, zone)}`;
}

/** Sentences about other stops, each with the command that ends it. */
function stillOff(others: readonly WritesOff[], command: string): readonly string[] {
  if (others.length === 0) return [];
  const named = others.map(({ scope }) => `${scopeText(scope)} (\`${writesOnCommand(scope, command)}\`)`);
  return [`Still off: ${listText(named)}.`];
}

// Watch of the emergency stops: ends expired stops and updates the alerts, at each expiry and every 30 s.

const lookEveryMs = 30_000;

/** Looks once at the emergency stops. Returns the wait for the next look, milliseconds. */
export async function watchWrites(rooms: WritesRooms): Promise<number> {
  await settleWrites(rooms);
  const now = rooms.world.clock.now();
  const ends = rooms.fleet.writesOff(now).flatMap(({ until }) => (until === null ? [] : [until - now]));
  // Regular looks are needed too: accounts and mailboxes come and go.
  return Math.max(1, Math.min(lookEveryMs, ...ends));
}
