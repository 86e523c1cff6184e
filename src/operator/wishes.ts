// What a person may ask of the daemon, as it comes over the socket or over HTTP: read, and handed to the hand it is for.
import { z } from 'zod';
import { severities } from '../model/alert.ts';
import type { DaemonHands, HandOutcome } from '../model/hand.ts';
import { warmupModes } from '../model/policy.ts';
import { dayMs } from '../model/time.ts';

/** Carries a wish out. One that can't be read, or for a hand that there is not, is refused in a sentence. */
export async function answerWish(hand: string, body: unknown, hands: DaemonHands): Promise<HandOutcome> {
  const carryOut = Object.hasOwn(wishes, hand) ? wishes[hand] : undefined;
  if (!carryOut) return { done: false, said: ['This daemon has no such hand.'] };
  const outcome = carryOut(body, hands);
  return (
    outcome ?? { done: false, said: ['The wish can not be read: is the command of another version than the daemon?'] }
  );
}

export function refusal(error: unknown): HandOutcome {
  return { done: false, said: [error instanceof Error ? error.message : String(error)] };
}

/** Longer than anybody means; what goes beyond has no date any more. */
const longestMs = 10 * 365 * dayMs;
const span = z.number().positive().max(longestMs);
const asker = { by: z.string().default('somebody'), reason: z.string().default('') };
const globs = z.array(z.string()).optional();
const match = z.strictObject({
  severity: z.array(z.enum(severities)).optional(),
  account: globs,
  rule: globs,
  mailbox: globs,
  domain: globs,
});
const previewed = { preview: z.boolean().default(false) };
const oneMailbox = z.object({ ...asker, ...previewed, mailbox: z.string() });

/** What each hand takes. */
const wishes: Readonly<Record<string, (body: unknown, hands: DaemonHands) => Promise<HandOutcome> | null>> = {
  release: reading(z.object({ ...asker, ...previewed, mailbox: z.string().nullable() }), (wish, hands) =>
    hands.release(wish),
  ),
  writes: reading(
    z.object({
      ...asker,
      ...previewed,
      off: z.boolean(),
      account: z.string().nullable(),
      mailbox: z.string().nullable(),
      forMs: span.nullable(),
    }),
    (wish, hands) => hands.writes(wish),
  ),
  pause: reading(oneMailbox, (wish, hands) => hands.pause(wish)),
  resume: reading(oneMailbox, (wish, hands) => hands.resume(wish)),
  mode: reading(oneMailbox.extend({ mode: z.enum(warmupModes) }), (wish, hands) => hands.mode(wish)),
  undo: reading(z.object({ ...asker, ...previewed, sinceMs: span }), (wish, hands) => hands.undo(wish)),
  reload: reading(
    z.object({ by: asker.by, force: z.boolean().default(false), dryRun: z.boolean().default(false) }),
    (wish, hands) => hands.reload(wish),
  ),
  resend: reading(
    z.object({ ...asker, channel: z.string().nullable(), delivery: z.string().nullable() }),
    (wish, hands) => hands.resend(wish),
  ),
  refresh: reading(z.object({ ...asker, mailbox: z.string() }), (wish, hands) => hands.refresh(wish)),
  silence: reading(z.object({ ...asker, ...previewed, match, forMs: span }), (wish, hands) => hands.silence(wish)),
  endSilence: reading(z.object({ ...asker, id: z.string() }), (wish, hands) => hands.endSilence(wish)),
};

function reading<Shape extends z.ZodType>(
  shape: Shape,
  carryOut: (wish: z.infer<Shape>, hands: DaemonHands) => Promise<HandOutcome>,
): (body: unknown, hands: DaemonHands) => Promise<HandOutcome> | null {
  return (body, hands) => {
    const wish = shape.safeParse(body);
    return wish.success ? carryOut(wish.data, hands) : null;
  };
}
