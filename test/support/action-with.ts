// An action in the state that a test needs, brought there by the transitions that production makes.
import {
  type Action,
  type ActionEvent,
  type ActionState,
  actionAfter,
  type PlannedAction,
} from '../../src/core/action.ts';
import type { EpochMs } from '../../src/core/time.ts';

export type ActionChange = { readonly [Field in keyof Action]?: Action[Field] };

/** When its intent was recorded, and when the outcome was known. */
interface Moments {
  readonly openedAt: EpochMs;
  readonly settledAt: EpochMs;
}

const eventsTo: Readonly<Record<ActionState, readonly ActionEvent['kind'][]>> = {
  planned: [],
  open: ['opened'],
  confirmed: ['opened', 'confirmed'],
  refused: ['opened', 'refused'],
  unconfirmed: ['opened', 'unconfirmed'],
  dropped: ['opened', 'unconfirmed', 'dropped'],
};

/** The action in the state that `change` names, sent once; a next try and a detail are there when `change` says so. */
export function actionWith(planned: PlannedAction, change: ActionChange, { openedAt, settledAt }: Moments): Action {
  const events = eventsTo[change.state ?? 'planned'].map((kind) =>
    eventOf(kind, kind === 'opened' ? openedAt : settledAt),
  );
  const action = events.reduce<Action>(actionAfter, planned);
  return { ...action, nextTryAt: null, detail: null, ...change } as Action;

  function eventOf(kind: ActionEvent['kind'], at: EpochMs): ActionEvent {
    return kind === 'opened' ? { kind, before: planned.before, at } : { kind, detail: '', at };
  }
}
