// HTTP client of any service that speaks the recipe API. Failures are values. Source: docs/http-api.md.
// Where it says "not shown", any answer is tolerated.
import {
  type AnswerHeaders,
  type Exchange,
  exchange,
  HttpAgent,
  jsonOf,
  type Success,
} from '../../api/http/exchange.ts';
import { type Failure, failed, malformed, type Result, saysMore } from '../../api/http/failure.ts';
import { Redactor } from '../../api/http/redactor.ts';
import { directly, type Egress, isEscaped } from '../../core/egress.ts';
import { secondMs, throttledWaitMs } from '../../core/time.ts';
import { fieldsOf } from '../../world/schema/json.ts';
import type { World } from '../../world/world.ts';
import { type RecipePage, type RunRecord, readRecipes, readRun, refusalIn } from './answers.ts';

const maxPages = 50;
const noRoute: readonly number[] = [404, 405, 501];

export interface RecipeApiOptions {
  /** Ends with /v1 (docs/faults.md T1); a slash behind it does no harm. */
  readonly baseUrl: string;
  /** Key of the service, or null if it asks for none, as the daemon's socket. */
  readonly apiKey: string | null;
  /** Socket of a daemon, used instead of TCP. */
  readonly socketPath?: string;
  readonly egress?: Egress;
}

export interface ServiceRecipes extends Omit<RecipePage, 'entries'> {
  /** True if the list goes on, and no next page is known. */
  readonly truncated: boolean;
}

export interface RunPage {
  readonly run: RunRecord;
  /** Address of the next page, as `run` takes it, or null if the service names none. */
  readonly nextPage: string | null;
}

/**
 * not_started: the service said no, or was never reached; asking again is safe. `said`: sentences of a service that
 * names its refusals, or null.
 * may_have_started: the answer was lost or names no run. No key makes a repetition safe (T11): never trigger again.
 */
export type Triggered =
  | { readonly kind: 'started'; readonly run: RunRecord }
  | { readonly kind: 'not_started'; readonly failure: Failure; readonly said: string | null }
  | { readonly kind: 'may_have_started'; readonly detail: string };

export interface TriggerRequest {
  readonly recipe: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly apply: boolean;
}

/** Client of one service. `signal` ends a request early, as unavailable. */
export class RecipeApi {
  readonly #baseUrl: string;
  readonly #apiKey: string | null;
  readonly #world: World;
  readonly #agent: HttpAgent;
  readonly #redactor: Redactor;

  constructor(options: RecipeApiOptions, world: World) {
    this.#baseUrl = new URL(options.baseUrl).href.replace(/\/+$/, '');
    this.#apiKey = options.apiKey;
    this.#world = world;
    const { baseUrl: url, egress = directly, socketPath } = options;
    this.#agent = new HttpAgent(socketPath === undefined ? { url, egress } : { socketPath });
    this.#redactor = new Redactor(options.apiKey, world.secrets?.() ?? []);
  }

  async recipes(signal: AbortSignal | null = null): Promise<Result<ServiceRecipes>> {
    const pages: RecipePage[] = [];
    let path: string | null = '/recipes';
    let truncated = false;
    while (path !== null && !truncated) {
      const got: Result<ReadAnswer> = await this.#get(path, signal);
      if (!got.ok) return got;
      const page = readRecipes(got.value.body);
      if (!page)
        return this.#failed('GET', path, malformed(got.value.status, 'it does not hold a list of recipes').failure);
      pages.push(page);
      path = this.#nextOf(path, got.value);
      const held = pages.reduce((sum, { entries }) => sum + entries, 0);
      truncated = path === null ? saysMore(fieldsOf(got.value.body), held) : pages.length >= maxPages;
    }
    const byId = new Map(pages.flatMap(({ recipes }) => recipes.map((entry) => [entry.id, entry])));
    const unreadable = pages.reduce((sum, page) => sum + page.unreadable, 0);
    const problems = pages.flatMap((page) => page.problems);
    return { ok: true, value: { recipes: [...byId.values()], unreadable, problems, truncated } };
  }

  /** Sends exactly one POST. */
  async trigger(asked: TriggerRequest, signal: AbortSignal | null = null): Promise<Triggered> {
    const path = `/recipes/${encodeURIComponent(asked.recipe)}/runs`;
    const { parameters, apply } = asked;
    // The document shows no body, so none is sent without parameters and `apply`.
    const isBare = Object.keys(parameters).length === 0 && !apply;
    const body = isBare ? null : JSON.stringify({ parameters, ...(apply && { apply }) });
    const exchanged = await this.#exchange('POST', path, { body, signal });
    const { result, status, reached, headers, errorWord } = exchanged;
    const located = status !== null && status < 300 ? runFromLocation(headers) : null;
    const run = (result.ok ? readRun(result.value.body) : null) ?? located;
    if (run) return { kind: 'started', run };
    if (!result.ok) {
      const { failure } = this.#failed('POST', path, result.failure);
      // 408 and 5xx may come from a proxy behind which the run goes on (docs/faults.md H7, H9), unlike a named refusal.
      const isBusy = status === 503 && errorWord === 'busy';
      const saidNo = isBusy || (status !== null && status >= 300 && status < 500 && status !== 408);
      if (saidNo || !reached) return { kind: 'not_started', failure, said: sentencesOf(exchanged) };
      return { kind: 'may_have_started', detail: failure.detail };
    }
    const refusal = refusalIn(result.value.body);
    if (refusal !== null) {
      const detail = `HTTP ${status}, but it says: ${refusal}`;
      const failure: Failure = { kind: 'refused', status, detail, retryAfterMs: null };
      return { kind: 'not_started', failure: this.#failed('POST', path, failure).failure, said: null };
    }
    return { kind: 'may_have_started', detail: this.#said('POST', path, `HTTP ${status}, but it does not name a run`) };
  }

  async run(id: string, page: string | null = null, signal: AbortSignal | null = null): Promise<Result<RunPage>> {
    const path = `/runs/${encodeURIComponent(id)}`;
    const got = await this.#get(page ?? path, signal);
    if (!got.ok) return got;
    const run = readRun({ id, ...fieldsOf(got.value.body) });
    const refusal = refusalIn(got.value.body);
    if (run && (run.stateSaid !== null || run.rows !== null)) {
      return { ok: true, value: { run, nextPage: this.#nextOf(page ?? path, got.value) } };
    }
    const detail = refusal === null ? 'it does not describe a run' : `it says: ${refusal}`;
    return this.#failed('GET', path, malformed(got.value.status, detail).failure);
  }

  /** The document has no such route (T11); only Warmwarden's own service does. */
  async cancel(id: string): Promise<RunRecord | { readonly said: string }> {
    const path = `/runs/${encodeURIComponent(id)}/cancel`;
    const exchanged = await this.#exchange('POST', path, { body: null, signal: null });
    const { result, status, errorWord } = exchanged;
    if (!result.ok) {
      const isUnknown = errorWord === null || errorWord === 'not_found';
      if (isUnknown && noRoute.includes(status ?? 0)) {
        return { said: 'The service cannot cancel a run, so the run continues.' };
      }
      return { said: sentencesOf(exchanged) ?? this.#said('POST', path, result.failure.detail) };
    }
    const { detail } = malformed(result.value.status, 'it does not describe a run').failure;
    return readRun(result.value.body) ?? { said: this.#said('POST', path, detail) };
  }

  /** Requests under way fail as unavailable. */
  async close(): Promise<void> {
    await this.#agent.destroy();
  }

  async #get(path: string, signal: AbortSignal | null): Promise<Result<ReadAnswer>> {
    const { result } = await this.#exchange('GET', path, { body: null, signal });
    return result.ok ? result : this.#failed('GET', path, result.failure);
  }

  #exchange(
    method: 'GET' | 'POST',
    path: string,
    { body, signal }: { readonly body: string | null; readonly signal: AbortSignal | null },
  ): Promise<Exchange<ReadAnswer>> {
    const { clock } = this.#world;
    const headers = {
      ...(this.#apiKey === null ? {} : { authorization: `Bearer ${this.#apiKey}` }),
      accept: 'application/json',
      ...(body === null ? {} : { 'content-type': 'application/json' }),
    };
    const ask = { method, baseUrl: this.#baseUrl, path, headers, body, signal, redactor: this.#redactor };
    return clock.busy(() =>
      exchange(
        this.#agent,
        ask,
        () => clock.now(),
        (success) => this.#read(success),
      ),
    );
  }

  #read(success: Success): Result<ReadAnswer> {
    const { status, headers } = success;
    const said = jsonOf(success, this.#redactor);
    return said.ok ? { ok: true, value: { status, headers, body: said.value } } : said;
  }

  /** Next page after the answer to a request for `path`. No address outside the base address gets the key. */
  #nextOf(path: string, { headers, body }: ReadAnswer): string | null {
    const link = /<([^>]*)>\s*;[^,]*\brel="?next\b/i.exec(String(headers['link'] ?? ''))?.[1];
    const said = fieldsOf(body)['next'];
    const target = link ?? (typeof said === 'string' && /^(https?:|\/|\?)/.test(said) ? said : undefined);
    if (target === undefined || !URL.canParse(target, `${this.#baseUrl}${path}`)) return null;
    const { href } = new URL(target, `${this.#baseUrl}${path}`);
    return href.startsWith(`${this.#baseUrl}/`) ? href.slice(this.#baseUrl.length) : null;
  }

  #failed(method: string, path: string, failure: Failure) {
    return failed({ ...failure, detail: this.#said(method, path, failure.detail) });
  }

  #said(method: string, path: string, detail: string): string {
    return `${method} ${path.split('?')[0]}: ${detail}`;
  }
}

function sentencesOf({ result, status, errorWord }: Exchange<ReadAnswer>): string | null {
  if (result.ok || errorWord === null) return null;
  const before = `HTTP ${status}: ${errorWord}: `;
  return result.failure.detail.startsWith(before) ? result.failure.detail.slice(before.length) : null;
}

interface ReadAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: AnswerHeaders;
}

function runFromLocation(headers: AnswerHeaders): RunRecord | null {
  const encoded = /\/runs\/([^/?#]+)\/?(?:[?#].*)?$/.exec(String(headers['location'] ?? ''))?.[1];
  if (encoded === undefined) return null;
  return readRun({ id: isEscaped(encoded) ? decodeURIComponent(encoded) : encoded });
}

/** Each next wait is twice as long. Chance halves it at most, so a run takes at most 24 of the 60 requests of a `pro` key. */
const firstWaitMs = 250;
const longestWaitMs = 5 * secondMs;
/** Number of 404s in a row that mean that a run does not exist: a service may know a new run only a moment later. */
const missingTries = 4;

/** unfinished: the time was up, or the signal came. lost: the service does not know the run, or not us. */
export type Followed =
  | { readonly kind: 'ended'; readonly page: RunPage }
  | { readonly kind: 'unfinished'; readonly run: RunRecord | null; readonly detail: string }
  | { readonly kind: 'lost'; readonly failure: Failure };

export interface FollowOptions {
  readonly withinMs: number;
  readonly signal?: AbortSignal;
  readonly onProgress?: (run: RunRecord) => void;
}

/** Follows the run to its end, waits out a failure that may pass, and never rejects. */
export async function followRun(
  api: Pick<RecipeApi, 'run'>,
  id: string,
  options: FollowOptions,
  world: World,
): Promise<Followed> {
  const { clock } = world;
  const { withinMs, signal, onProgress } = options;
  const deadline = clock.monotonic() + withinMs;
  // A request that hangs must not keep the caller longer. Sockets are in real time.
  const patience = AbortSignal.any([AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])]);
  let seen: RunRecord | null = null;
  let detail = 'it was not read in time';
  let missing = 0;
  for (let wait = firstWaitMs; ; wait = Math.min(2 * wait, longestWaitMs)) {
    const read = await api.run(id, null, patience);
    let atLeastMs = 0;
    if (read.ok) {
      const { run } = read.value;
      seen = run;
      missing = 0;
      detail = `its status is ${run.stateSaid ?? 'not given'}`;
      onProgress?.(run);
      if (hasEnded(run)) return { kind: 'ended', page: read.value };
    } else {
      const { failure } = read;
      detail = failure.detail;
      missing = failure.kind === 'missing' ? missing + 1 : 0;
      const final = failure.kind === 'unauthorized' || failure.kind === 'refused' || missing >= missingTries;
      if (final && !signal?.aborted) return { kind: 'lost', failure };
      if (failure.kind === 'throttled') atLeastMs = failure.retryAfterMs ?? throttledWaitMs;
    }
    const left = deadline - clock.monotonic();
    const next = Math.max(atLeastMs, wait * (0.5 + world.random() / 2));
    if (left <= atLeastMs || signal?.aborted) return { kind: 'unfinished', run: seen, detail };
    await clock.sleep(Math.min(next, left), signal);
  }
}

export function hasEnded({ state }: RunRecord): boolean {
  return state === 'succeeded' || state === 'failed' || state === 'cancelled';
}
