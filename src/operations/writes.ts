// The write stop (on the page: Switch writes off) switches writes to the API off or on for everything, an account or a mailbox.
import { tune } from '../alerts/condition.ts';
import { step } from '../alerts/engine.ts';
import { type WritesEnd, writesOffCondition } from '../alerts/rules/protection-rule.ts';
import { type MailboxState, namedMailbox } from '../core/mailbox.ts';
import { namesAre, notCalled } from '../core/nearest.ts';
import { invalid, noChange } from '../core/operator-command.ts';
import { secondMs } from '../core/time.ts';
import { sentence } from '../core/wording/explain.ts';
import { listText, momentText } from '../core/wording/phrases.ts';
import {
  everything,
  isOff,
  scopeKey,
  scopeText,
  type WriteScope,
  type WritesOff,
  writesOnCommand,
} from '../core/write-scope.ts';
import type { CommandRooms } from './audit.ts';
import type { Command, OperationRequest } from './command-requests.ts';

export interface WritesRooms extends CommandRooms {
  /** True if an account is configured. */
  readonly knows: (account: string) => boolean;
  readonly judgeAgain: (mailboxes: Iterable<MailboxState>) => Promise<void>;
}

export function writesCommand(rooms: WritesRooms): Command<'writes'> {
  const { fleet, world, rules } = rooms;
  return (request) => {
    const scope = scopeOf(request, rooms);
    if ('wrong' in scope) return invalid(scope.wrong);
    const at = world.clock.now();
    const { by, reason, for_seconds: seconds } = request;
    const inForce = fleet.writesOff(at);
    const current = inForce.find((one) => scopeKey(one.scope) === scopeKey(scope)) ?? null;
    const until = seconds === null ? null : at + seconds * secondMs;
    const off = request.off ? { scope, since: at, until, by, reason } : null;
    const others = inForce.filter((one) => one !== current);
    const rest = off ? [] : stillOff(others);
    if (!off && !current) return noChange(`Writes are already on for ${scopeText(scope)}.`, ...rest);
    const { timeZone: zone } = rules();
    const upTo = off?.until ? ` until ${momentText(off.until, zone)}` : '';
    return {
      plan: {
        effect: [...effectOf(scope, { off, current }, zone), ...rest],
        about: [scopeKey(scope), request.off, seconds, current?.since ?? null],
      },
      command: `writes ${off ? 'off' : 'on'} for ${scopeText(scope)}${upTo}`,
      account: scope.kind === 'everything' ? null : scope.account,
      mailboxes: scope.kind === 'mailbox' ? [{ account: scope.account, id: scope.mailboxId, email: scope.email }] : [],
      carryOut: async () => {
        await rooms.turns.take(() => (off ? commit(rooms, [off], []) : commit(rooms, [], [[scope, { by, reason }]])));
        await judgeWaiting(rooms);
        return { result: 'done', messages: [doneText(scope, off, zone), ...rest] };
      },
    };
  };
}

/** Waiting actions are judged again at once: each is dropped or planned. */
function judgeWaiting({ fleet, judgeAgain }: WritesRooms): Promise<void> {
  return judgeAgain([...fleet.mailboxes()].filter(({ verdict }) => verdict?.answer.wanted !== 'none'));
}

/** Ends expired stops, and updates the alerts to those in force: after a start, and as time passes. */
export async function settleWrites(rooms: WritesRooms): Promise<void> {
  const { fleet, turns, world, knows } = rooms;
  const expired = await turns.take(async () => {
    const now = world.clock.now();
    const known = [...fleet.knownWritesOff()];
    const over = known.filter((off) => !isOff(off, now)).map(({ scope }) => scope);
    const inForce = known.filter((off) => isOff(off, now) && isThere(off.scope, fleet, knows));
    await commit(
      rooms,
      inForce,
      over.map((scope) => [scope, 'expired']),
    );
    return over;
  });
  for (const scope of expired)
    world.log.warn({ scope: scopeText(scope) }, 'writes are on again: the write stop has expired');
  if (expired.length > 0) await judgeWaiting(rooms);
}

/** True if the account or mailbox exists: a stop over one that is gone has no alert. */
function isThere(scope: WriteScope, fleet: CommandRooms['fleet'], knows: WritesRooms['knows']): boolean {
  if (scope.kind === 'everything') return true;
  return scope.kind === 'account' ? knows(scope.account) : fleet.mailbox(scope.account, scope.mailboxId) !== undefined;
}

/** Stores the stops that are in force and the end of others, with their alerts; then shows them. */
async function commit(
  rooms: WritesRooms,
  inForce: readonly WritesOff[],
  ended: readonly (readonly [WriteScope, WritesEnd])[],
): Promise<void> {
  const { fleet, store, world, rules, onTransitions } = rooms;
  const known = new Map([...fleet.knownWritesOff()].map((off) => [scopeKey(off.scope), off]));
  const settings = rules();
  const conditions = [
    ...inForce.map((off) => writesOffCondition(off, null, settings.timeZone)),
    ...ended.flatMap(([scope, end]) => {
      const off = known.get(scopeKey(scope));
      return off ? [writesOffCondition(off, end, settings.timeZone)] : [];
    }),
  ];
  const alerts = step(tune(conditions, settings), (fingerprint) => fleet.alert(fingerprint), world.clock.now());
  const off = inForce.filter((one) => known.get(scopeKey(one.scope)) !== one);
  const on = ended.map(([scope]) => scopeKey(scope));
  if (off.length + on.length + alerts.changed.length === 0) return;
  await store.recordWrites({ off, on, alerts });
  for (const one of off) fleet.putWritesOff(one);
  for (const key of on) fleet.removeWritesOff(key);
  fleet.putAlerts(alerts);
  if (alerts.transitions.length > 0) onTransitions();
}

/** Scope of a switch. A stop can be ended even if its account or mailbox is gone. */
function scopeOf(
  { mailbox, account, off }: OperationRequest<'writes'>,
  { fleet, knows }: WritesRooms,
): WriteScope | { readonly wrong: string } {
  if (mailbox === null && account === null) return everything;
  if (mailbox === null && account !== null) {
    const hasStop = [...fleet.knownWritesOff()].some(
      ({ scope }) => scope.kind === 'account' && scope.account === account,
    );
    if (knows(account) || (!off && hasStop)) return { kind: 'account', account };
    const names = [...fleet.accounts()].map(({ name }) => name);
    return { wrong: notCalled('account', account, names, namesAre('accounts', names)) };
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

function effectOf(
  scope: WriteScope,
  { off, current }: { readonly off: WritesOff | null; readonly current: WritesOff | null },
  zone: string,
): readonly string[] {
  if (!off) return [`Warmwarden will change mailboxes again: writes will be on for ${scopeText(scope)}.`];
  const replaced = current ? [sentence(`This replaces the stop that ${current.by} set: ${current.reason}`)] : [];
  return [
    `Writes will be off for ${scopeText(scope)}${untilText(off, zone)}. Until then, breaches get NO ACTION, and your own commands are refused.`,
    'Warmwarden keeps polling and notifies you of what it would have done.',
    ...replaced,
  ];
}

function doneText(scope: WriteScope, off: WritesOff | null, zone: string): string {
  if (!off) return `Writes are on for ${scopeText(scope)}.`;
  return `Writes are off for ${scopeText(scope)}${untilText(off, zone)}. To allow them: \`${writesOnCommand(scope)}\`.`;
}

function untilText({ until }: WritesOff, zone: string): string {
  return until === null ? ' until a person switches them on' : ` until ${momentText(until, zone)}`;
}

/** Sentences about other stops, each with the command that ends it. */
function stillOff(others: readonly WritesOff[]): readonly string[] {
  if (others.length === 0) return [];
  const named = others.map(({ scope }) => `${scopeText(scope)} (\`${writesOnCommand(scope)}\`)`);
  return [`Still off: ${listText(named)}.`];
}

// Watch of the write stops: ends expired stops and updates the alerts, at each expiry and every 30 s.

const lookEveryMs = 30_000;

/** Looks once at the write stops. Returns the wait for the next look, milliseconds. */
export async function watchWrites(rooms: WritesRooms): Promise<number> {
  await settleWrites(rooms);
  const now = rooms.world.clock.now();
  const ends = rooms.fleet.writesOff(now).flatMap(({ until }) => (until === null ? [] : [until - now]));
  // Regular looks are needed too: accounts and mailboxes come and go.
  return Math.max(1, Math.min(lookEveryMs, ...ends));
}
