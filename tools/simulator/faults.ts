// The faults in force: which one a request meets, and what an edit makes of an answer.
import { type Behaviour, type Edit, type FaultRule, faultRoutes, faults } from './fault.ts';
import type { Fleet } from './fleet.ts';
import { matchesAddress } from './pattern.ts';
import type { Answer } from './routes.ts';

/** What faults are chosen by. */
interface SimulatedRequest {
  readonly method: string;
  readonly path: string;
  /** The mailbox's id in the query or in the body; null where there is none. */
  readonly mailboxId: string | null;
}

interface Standing {
  readonly rule: FaultRule;
  readonly behaviour: Behaviour;
  met: number;
}

/** The first rule that fits a request decides. */
export class Faults {
  readonly #fleet: Fleet;
  readonly #startAt: number;
  #standing: Standing[] = [];
  /** First answers by path, as `freeze` gives them ever after. */
  readonly #frozen = new Map<string, Answer>();

  /** `startAt`: epoch milliseconds, from which rules count. */
  constructor(rules: readonly FaultRule[], fleet: Fleet, startAt: number) {
    this.#fleet = fleet;
    this.#startAt = startAt;
    for (const rule of rules) this.add(rule);
  }

  /** Throws an Error when it names a fault that there is not. */
  add(rule: FaultRule): void {
    const behaviour = typeof rule.fault === 'string' ? faults[rule.fault] : rule.fault;
    if (!behaviour) throw new Error(`there is no fault ${JSON.stringify(rule.fault)}`);
    this.#standing.push({ rule, behaviour, met: 0 });
  }

  /** Takes the rules away that fit. */
  end(fits: (rule: FaultRule) => boolean): void {
    this.#standing = this.#standing.filter(({ rule }) => !fits(rule));
  }

  clear(): void {
    this.#standing = [];
    this.#frozen.clear();
  }

  rules(): readonly (FaultRule & { readonly met: number })[] {
    return this.#standing.map(({ rule, met }) => ({ ...rule, met }));
  }

  /** The fault that this request meets, if any; it counts as met. `now` is in epoch milliseconds. */
  meet(asked: SimulatedRequest, now: number): Behaviour | null {
    const found = this.#standing.find((standing) => this.#fits(standing, asked, now));
    if (!found) return null;
    found.met += 1;
    return found.behaviour;
  }

  /** The answer that was given to the path when it froze. */
  async frozen(path: string, plain: () => Promise<Answer>): Promise<Answer> {
    const answer = this.#frozen.get(path) ?? structuredClone(await plain());
    this.#frozen.set(path, answer);
    return answer;
  }

  #fits({ rule, met }: Standing, { method, path, mailboxId }: SimulatedRequest, now: number): boolean {
    const { from = 0, until = Number.POSITIVE_INFINITY, times = Number.POSITIVE_INFINITY } = rule;
    const after = now - this.#startAt;
    if (after < from || after >= until || met >= times) return false;
    if (rule.method !== undefined && rule.method !== method) return false;
    if (rule.route !== undefined && rule.route !== routeOf(path)) return false;
    if (rule.mailbox === undefined) return true;
    const mailbox = this.#fleet.withId(mailboxId ?? /^\/v1\/mailboxes\/([^/]+)$/.exec(path)?.[1] ?? '');
    return mailbox !== undefined && matchesAddress(rule.mailbox, mailbox.email);
  }
}

function routeOf(path: string): (typeof faultRoutes)[number] | undefined {
  if (/^\/v1\/mailboxes\/./.test(path)) return 'mailbox';
  return faultRoutes.find((route) => route !== 'mailbox' && path === `/v1/${route}`);
}

type Json = Record<string, unknown>;

/** The body with the edit done; where a path leads nowhere nothing changes. */
export function edit(
  body: object,
  { set = {}, remove = [], repeat = [], reverse = [], keep = {}, shift = {} }: Edit,
): object {
  const copy = structuredClone(body) as Json;
  const lists = (path: string, change: (list: unknown[]) => unknown[]) =>
    reach(copy, path, (holder, name) => {
      const list = holder[name];
      if (Array.isArray(list)) holder[name] = change(list);
    });
  for (const [path, value] of Object.entries(set)) {
    reach(copy, path, (holder, name) => {
      holder[name] = value;
    });
  }
  for (const path of remove) {
    reach(copy, path, (holder, name) => {
      delete holder[name];
    });
  }
  for (const path of repeat) lists(path, (list) => [...list, ...list.slice(0, 1)]);
  for (const path of reverse) lists(path, (list) => list.toReversed());
  for (const [path, count] of Object.entries(keep)) lists(path, (list) => list.slice(0, count));
  for (const [path, ms] of Object.entries(shift)) {
    reach(copy, path, (holder, name) => {
      const at = Date.parse(String(holder[name]));
      if (!Number.isNaN(at)) holder[name] = new Date(at + ms).toISOString();
    });
  }
  return copy;
}

function reach(at: unknown, path: string, change: (holder: Json, name: string) => void): void {
  const [name = '', ...rest] = path.split('.');
  if (typeof at !== 'object' || at === null) return;
  const holder = at as Json;
  const names = name === '*' ? Object.keys(holder) : [name];
  for (const one of names) {
    if (rest.length === 0) change(holder, one);
    else reach(holder[one], rest.join('.'), change);
  }
}
