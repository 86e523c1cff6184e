// Work in steps: all at once, or with turns of the event loop between them, as its caller likes.

export type Steps<Result> = Generator<undefined, Result, undefined>;

/** Does all of it. */
export function atOnce<Result>(steps: Steps<Result>): Result {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
