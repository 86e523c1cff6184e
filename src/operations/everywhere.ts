// The operator commands over all replicas: what is about an account is carried out where it is guarded, the rest here, and what
// is about all accounts on each of them.
import type { Fleet } from '../core/fleet/fleet.ts';
import { namedMailbox } from '../core/mailbox.ts';
import {
  type CommandOutcome,
  type DaemonCommands,
  type ReloadRequest,
  succeeded,
  type UndoRequest,
} from '../core/operator-command.ts';
import { listText } from '../core/wording/phrases.ts';
import { accountScope, type Membership, type Replica } from '../store/replicas/membership.ts';
import type { Asking } from './asking.ts';
import { carryOutPassed, type PassedCommand, type RequestOf } from './passed-command.ts';
import { failed, noChange } from './plan.ts';

export interface EverywhereRooms {
  readonly local: DaemonCommands;
  readonly fleet: Fleet;
  readonly membership: Membership;
  readonly asking: Asking;
  /** Reads the mailboxes of other replicas with this name from the store. Rejects when the store can't be read. */
  readonly learn: (name: string) => Promise<void>;
}

type OfMailbox = 'pause' | 'resume' | 'mode' | 'limit' | 'refresh' | 'contestRelease';

export function commandsEverywhere(rooms: EverywhereRooms): DaemonCommands {
  const { local } = rooms;
  const ofMailbox =
    <Name extends OfMailbox>(pass: (request: RequestOf<Name>) => PassedCommand<OfMailbox>) =>
    (request: RequestOf<Name>) =>
      whereGuarded(pass(request), rooms);
  return {
    pause: ofMailbox<'pause'>((request) => ({ name: 'pause', request })),
    resume: ofMailbox<'resume'>((request) => ({ name: 'resume', request })),
    mode: ofMailbox<'mode'>((request) => ({ name: 'mode', request })),
    limit: ofMailbox<'limit'>((request) => ({ name: 'limit', request })),
    refresh: ofMailbox<'refresh'>((request) => ({ name: 'refresh', request })),
    contestRelease: ofMailbox<'contestRelease'>((request) => ({ name: 'contestRelease', request })),
    undo: (request) => undoEverywhere(request, rooms),
    // What these change is in the store that all replicas share, and each of them reads it there.
    writes: async (request) => {
      if (request.mailbox !== null) await find(request.mailbox, rooms);
      return local.writes(request);
    },
    breakerRelease: (request) => local.breakerRelease(request),
    silenceAdd: (request) => local.silenceAdd(request),
    silenceExpire: (request) => local.silenceExpire(request),
    channelsResend: (request) => local.channelsResend(request),
    reload: (request) => reloadHere(request, rooms),
  };
}

/** A mailbox that another replica found a moment ago is only in the store. */
async function find(name: string, { fleet, learn }: EverywhereRooms): Promise<ReturnType<typeof namedMailbox>> {
  const found = namedMailbox(name, fleet.mailboxes());
  if ('mailbox' in found) return found;
  await learn(name);
  return namedMailbox(name, fleet.mailboxes());
}

async function whereGuarded(passed: PassedCommand<OfMailbox>, rooms: EverywhereRooms): Promise<CommandOutcome> {
  const { local, membership, asking } = rooms;
  const found = await find(passed.request.mailbox, rooms);
  // What is wrong with the name is said in the same words.
  if ('wrong' in found) return carryOutPassed(passed, local);
  const scope = accountScope(found.mailbox.account);
  return membership.holds(scope) ? carryOutPassed(passed, local) : asking.ask(scope, passed);
}

/** The plan of all: what each replica would do, by its id. */
type Plans = ReadonlyMap<string, string>;

const planText = (plans: Plans) => [...plans].map(([replica, plan]) => `${replica}=${plan}`).join(',');

function plansIn(text: string): Plans {
  return new Map(text.split(',').map((part) => [part.slice(0, part.indexOf('=')), part.slice(part.indexOf('=') + 1)]));
}

interface Part {
  readonly replica: Replica;
  readonly outcome: CommandOutcome;
}

/** Each replica undoes what is its own. What was agreed to is done there, and where nothing was agreed to nothing is. */
async function undoEverywhere(request: UndoRequest, rooms: EverywhereRooms): Promise<CommandOutcome> {
  const { local, membership, asking } = rooms;
  const replicas = membership.replicas();
  if (replicas.length <= 1) return local.undo(request);
  const agreed = request.plan ? plansIn(request.plan) : null;
  const asked = replicas.filter(({ id }) => agreed === null || agreed.has(id));
  const parts = await Promise.all(
    asked.map(async (replica): Promise<Part> => {
      const own = { ...request, plan: agreed?.get(replica.id) ?? null };
      const here = replica.id === membership.self;
      const outcome = here ? local.undo(own) : asking.ask(`replica:${replica.id}`, { name: 'undo', request: own });
      return { replica, outcome: await outcome };
    }),
  );
  if (parts.length === 0)
    return failed(
      'Warmwarden did nothing, because the replicas whose changes you agreed to have stopped. Run the command again.',
    );
  return together(parts);
}

/** The outcomes of several replicas as one. */
export function together(parts: readonly Part[]): CommandOutcome {
  const moving = parts.filter(({ outcome }) => outcome.result !== 'no_change');
  const [only] = moving;
  if (!only) return noChange(...new Set(parts.flatMap(({ outcome }) => outcome.messages)));
  const messages = moving.flatMap(({ outcome }) => outcome.messages);
  const plans = new Map(
    moving.flatMap(({ replica, outcome: { plan } }) => (plan ? [[replica.id, plan] as const] : [])),
  );
  const plan = plans.size > 0 ? { plan: planText(plans) } : {};
  const { result } = only.outcome;
  // What one would do can be agreed to although another does not answer; it is said which.
  if (moving.some(({ outcome }) => outcome.result === 'planned')) return { result: 'planned', messages, ...plan };
  if (moving.every(({ outcome }) => outcome.result === result)) return { result, messages, ...plan };
  return { result: moving.every(({ outcome }) => succeeded(outcome)) ? 'done' : 'failed', messages };
}

/** Each replica has a file of its own, so only this one is reloaded; it is said who goes on with what they had. */
async function reloadHere(request: ReloadRequest, { local, membership }: EverywhereRooms): Promise<CommandOutcome> {
  const outcome = await local.reload(request);
  const others = membership.replicas().filter(({ id }) => id !== membership.self);
  if (others.length === 0) return outcome;
  const names = listText(others.map(({ name }) => name));
  const said = `Only this replica reloaded its configuration. Reload the others too: ${names}.`;
  return { ...outcome, messages: [...outcome.messages, said] };
}
