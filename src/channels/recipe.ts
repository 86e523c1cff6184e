// The recipe channel: an alert starts a recipe, and its run is followed to its end. A trigger whose answer was lost may
// have started a run, and no request can tell (docs/faults.md T11), so it is never retried automatically.
import { z } from 'zod';
import type { Transition } from '../core/alert.ts';
import type { Egress } from '../core/egress.ts';
import { minuteMs, secondMs } from '../core/time.ts';
import { counted } from '../core/wording/phrases.ts';
import type { RunRecord } from '../recipes/client/answers.ts';
import { hasEnded, RecipeApi } from '../recipes/client/client.ts';
import { baseUrl, truth } from '../world/schema/scalars.ts';
import { keyed, plainHttp, privateAuthority, secret, section } from '../world/schema/section.ts';
import type { World } from '../world/world.ts';
import { type Channel, channelName, type SendOutcome } from './channel.ts';
import { messageTitle } from './message-text.ts';

export const recipeSettings = section({
  name: channelName,
  type: z.literal('recipe').describe('Starts a recipe at a recipe service. Without a route it gets no alerts.'),
  baseUrl: baseUrl((url) =>
    /[^/]\/v1$/.test(url) ? url : { wrong: 'must end in /v1, as the address of every recipe service does' },
  ).describe('The recipe service. Its address ends with /v1.'),
  // The form of a key is not documented.
  apiKey: secret(
    z
      .string()
      .regex(/^[\x21-\x7e]{1,512}$/, 'must have no spaces, line breaks or non-ASCII characters')
      .describe('The key of the recipe service.'),
  ),
  recipe: z.string().min(1).describe("The recipe's id."),
  apply: keyed(truth(), false, "true: carry out the recipe's actions. false: only plan them."),
  allowHttp: plainHttp(),
  ca: privateAuthority(),
});
type RecipeSettings = Pick<z.output<typeof recipeSettings>, 'name' | 'baseUrl' | 'apiKey' | 'recipe' | 'apply'> & {
  readonly egress?: Egress;
};

/** A young run is polled often, since the smallest plan has 60 requests a minute. */
const youngMs = minuteMs;
const youngWaitMs = 5 * secondMs;
const oldWaitMs = 30 * secondMs;
const followedForMs = 60 * minuteMs;

const starting: readonly Transition['kind'][] = ['firing', 'worsened', 'event'];

/** State of a run, kept in the delivery while the run goes on. */
interface Receipt {
  readonly run: string;
  readonly startedAt: number;
}

export function recipeChannel(settings: RecipeSettings, world: World): Channel {
  const { name, recipe, apply } = settings;
  const api = new RecipeApi(settings, world);

  const trigger = async (signal: AbortSignal): Promise<SendOutcome> => {
    const triggered = await api.trigger({ recipe, parameters: {}, apply }, signal);
    switch (triggered.kind) {
      case 'started':
        return stepOf(triggered.run, { run: triggered.run.id, startedAt: world.clock.now() });
      case 'may_have_started': {
        const detail = `a run of ${recipe} may have started, so Warmwarden does not start it again: ${triggered.detail}`;
        return { kind: 'failed', detail, retryAfterMs: null, final: true };
      }
      case 'not_started': {
        const { kind, detail, retryAfterMs } = triggered.failure;
        const later = kind === 'throttled' || kind === 'unavailable';
        return later
          ? { kind: 'failed', detail, retryAfterMs, final: false }
          : { kind: 'refused', detail, retryAfterMs };
      }
    }
  };
  const stepOf = (run: RunRecord, receipt: Receipt): SendOutcome => {
    if (hasEnded(run)) return endOf(run);
    return waitOn(receipt, `run ${run.id} is still running: its status is ${run.stateSaid ?? 'not given'}`);
  };
  const waitOn = (receipt: Receipt, detail: string): SendOutcome => {
    const age = world.clock.now() - receipt.startedAt;
    if (age > followedForMs)
      return { kind: 'sent', detail: `${detail}; Warmwarden stopped following it after an hour` };
    const againInMs = age < youngMs ? youngWaitMs : oldWaitMs;
    return { kind: 'accepted', receipt: JSON.stringify(receipt), detail, againInMs };
  };

  return {
    name,
    type: 'recipe',
    minGapMs: 0,
    once: true,
    // A recipe starts only for new facts: neither the end of an alert nor a reminder starts it.
    render: (message) =>
      message.transitions.some(({ kind }) => starting.includes(kind))
        ? { payload: JSON.stringify({ recipe, apply }), title: messageTitle(message) }
        : null,
    renderNotice: () => null,
    send: async (delivery, signal) => {
      if (delivery.receipt === null) return trigger(signal);
      const receipt: Receipt = JSON.parse(delivery.receipt);
      const read = await api.run(receipt.run, null, signal);
      return read.ok
        ? stepOf(read.value.run, receipt)
        : waitOn(receipt, `run ${receipt.run} can't be read: ${read.failure.detail}`);
    },
    close: () => api.close(),
    check: async (signal) => {
      const listed = await api.recipes(signal);
      if (!listed.ok) return { kind: 'refused', detail: listed.failure.detail, retryAfterMs: null };
      const ids = listed.value.recipes.map(({ id }) => id);
      if (ids.includes(recipe))
        return { kind: 'sent', detail: `the service answers and has the recipe ${recipe}. The test did not start it` };
      return {
        kind: 'refused',
        detail: `the service has no recipe ${recipe}. It has ${ids.join(', ') || 'none'}`,
        retryAfterMs: null,
      };
    },
  };
}

/** A failed run makes the delivery undelivered, so that people see it. */
function endOf({ id, state, error, rows, rowCount }: RunRecord): SendOutcome {
  if (state === 'succeeded')
    return { kind: 'sent', detail: `run ${id} succeeded${rowsText(rowCount ?? rows?.length)}` };
  const detail = `run ${id} ${state}${error ? `: ${error}` : ''}`;
  return { kind: 'failed', detail, retryAfterMs: null, final: true };
}

function rowsText(count: number | undefined): string {
  return count === undefined ? '' : ` with ${counted(count, 'row')}`;
}
